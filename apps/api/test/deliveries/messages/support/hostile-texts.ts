export interface HostileText {
  name: string;
  text: string;
}

const LONG = 100_000;
const fill = (part: string, length = LONG) => part.repeat(Math.ceil(length / part.length)).slice(0, length);
const lines = (count: number, build: (at: number) => string) => Array.from({ length: count }, (_, at) => build(at));

const MENTIONS = [
  '@everyone and @here and @channel and @all',
  '<!channel> <!here> <!everyone> <!subteam^S012AB3CD> <!date^1^{date}|now>',
  '<@U012AB3CD> <@!80351110224678912> <@&165511591545143296> <#C012AB3CD> <#103735883630395392>',
  '&lt;!channel&gt; &#60;!here&#62; \\<!channel\\> `<!channel>` **<!here>**',
  '[@everyone](user-mention) @[user](mention:1) @\u200beveryone @\u2060here @e\u00adveryone',
  '<at>name</at> <at id="0">everyone</at> `<at>team</at>`',
  '[you](tg://user?id=123456789) <a href="tg://user?id=123456789">you</a> <tg-emoji emoji-id="5368">x</tg-emoji>',
  '@some_user @bot /start /stop@bot #tag $USD',
  '```\n@everyone <!channel> <at>name</at>\n```',
  '|@everyone|<!channel>|\n|--|--|\n|@here|<at>name</at>|',
  '# @everyone\n> @here\n- <!here>\n',
  '<id:customize> </command:123> <:name:123456789012345678> <t:1618953630:R>',
];

const LINKS = [
  '[https://bank.example](https://evil.example)',
  '[bank.example/login](https://evil.example/login "https://bank.example")',
  '[**https://bank**.example](https://evil.example)',
  '[`https://bank.example`](https://evil.example)',
  '[www.bank.example](https://bank.example@evil.example/)',
  '[https://bank.example/a](https://bank.example.evil.example/a)',
  '[HTTPS://BANK.EXAMPLE][1]\n\n[1]: https://evil.example',
  '[https://bank\u200b.example](https://evil.example) [https:\u2215\u2215bank.example](https://evil.example)',
  '[![https://bank.example](https://evil.example/pixel.png)](https://evil.example)',
  '![https://bank.example](https://evil.example/pixel.png)',
  '<https://evil.example|https://bank.example> <https://evil.example|bank.example>',
  '&lt;https://evil.example|https://bank.example&gt;',
  '<a href="https://evil.example">https://bank.example</a>',
  '[click](javascript:alert(1)) [click](JaVaScRiPt&colon;alert(1)) [click](vbscript:x) [click](file:///etc/passwd)',
  '[click](data:text/html;base64,PHNjcmlwdD4=) <javascript:alert(1)> [click](java\nscript:alert(1))',
  '[a](https://evil.example/"><b>x) [a](https://evil.example/)|https://bank.example) [a](<https://evil.example/ b>)',
  '[x](https://evil.example/%0d%0aX: y) https://bank.example|https://evil.example',
  '[](https://evil.example) [ ](https://evil.example) [\u200b](https://evil.example)',
  '[a](http://[::1) [a](//evil.example) [a](/settings) [a](\\\\evil.example) [a](mailto:a@b.example?bcc=c@d.example)',
];

const CHARACTERS = [
  'a\u0000b\u0001c\u0007d\u0008e\u000bf\u000cg\u001bh\u001b[31mred\u007fi\u0080j\u0085k\u009bl',
  'a\ud800b \udc00c \ud83d \ude00\ud83d d\ufffe\uffff e\u{1fffe}',
  `a${'\ud800'}`,
  'invoice\u202efdp.exe \u202dleft\u202c \u202bright \u202aembedded',
  '\u2066isolated \u2067right \u2068first \u2069 \u061c \u200e \u200f ltr',
  '\u202e\u202e\u202e`code \u202e` **bold \u2067** [link\u202e](https://evil.example)',
  '```\nif (user\u202e \u2066// check\u2069 \u2066) {\n```',
  'שלום עולם العربية 你好 हिन्दी ไทย — mixed שלום text',
  'a\u200bb\u200cc\u200dd\ufeffe\u2060f\u00adg\u180eh\u115fi\u3164j',
  `z${'\u0301\u0302\u0303\u0489'.repeat(2000)} after`,
  'a\r\nb\rc\u2028d\u2029e\u0085f',
  '\t tab\u00a0space\u3000wide',
  '\u{e0001}\u{e0061}\u{e0062}\u{e007f} tags',
];

const BROKEN = [
  '```js\nconst a = 1;\n',
  '~~~~\nnot closed',
  '````\n```\nnested\n```\n',
  '``` `` ` ``` a `` b ` c',
  '```\n```\n```\n```\n```',
  'text ```inline fence``` text ```',
  '    indented ``` code\n    ``` more',
  '**bold *italic ~~strike __under `code',
  '***a** b* _c __d_ e__ **',
  '[link [nested](https://a.example)](https://b.example [unclosed](https://c.example',
  '[a]: <https://a.example\n\n[a] ![b][a] [c][missing]',
  '| a | b\n|--\n| c | d | e | f\n| `|` | \\| |',
  '|a|b|c|\n|:-|-:|:-:|\n|```|**|[x](https://a.example|',
  '<script>alert(1)</script><img src=x onerror=alert(1)><style>*{display:none}</style><svg/onload=alert(1)>',
  '<b>bold<i>both</b>italic</i> <div><p></span> <!-- comment --> <![CDATA[x]]> <?php x ?> &amp;amp; &bogus; &#0; &#xD800;',
  '</pre></code></b></a><pre><code class="language-x">',
  '``` "><script>alert(1)</script>\ncode\n```',
  '```</code></pre><b>x</b> class="y\n</code></pre>\n```',
  '\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\\\ \\',
  '*_~`>#+-=|{}.!()[]<>&"\'',
  '# a\n## b\n###### c\n####### d\n===\n---\n***\n- - - x\n1. 2. 3. y\n- [ ] z\n- [x] w',
  '||spoiler|| -# small >>> quote\n> q\n>> r\nlazy',
  '{"text": "x"} $HOME {{constructor}} %s %n %00 $(id) `id`',
  'null',
  '',
  ' \n\t\n ',
];

const SUBJECTS = [
  'Report\r\nBcc: victim@example.com\r\n\r\nbody',
  'Report\nX-Priority: 1\n\tfolded',
  'Report\u0085Cc: a@example.com\u2028Cc: b@example.com\u0000',
  '=?utf-8?B?QmNjOiB4QGV4YW1wbGUuY29t?= =?utf-8?Q?a=0D=0Ab?=',
  fill('title '),
  fill('é', 1000),
  '"Quoted" <name@example.com>, other@example.com; \\',
];

const LONG_TEXTS: HostileText[] = [
  { name: 'one word', text: fill('x') },
  { name: 'one paragraph', text: fill('Some words of a long paragraph, ') },
  { name: 'one paragraph of wide characters', text: fill('長い文章です。') },
  { name: 'one code block', text: `\`\`\`js\n${fill('const answer = 42; // <&>\n')}\n\`\`\`\nafter` },
  { name: 'one line of code', text: `\`\`\`\n${fill('x`')}\n\`\`\`` },
  { name: 'one code span', text: `\`${fill('code ')}\`` },
  { name: 'one link', text: `[${fill('text ')}](https://a.example/${fill('a', 3000)})` },
  { name: 'one long address', text: `https://a.example/${fill('a')}` },
  { name: 'one bold text', text: `**${fill('bold ')}**` },
  { name: 'one quote', text: `> ${fill('quoted ')}` },
  { name: 'one table', text: `|a|b|\n|-|-|\n${lines(5000, (at) => `|${at}|<b>&|`).join('\n')}` },
  { name: 'one wide table', text: `${fill('|a')}|\n${fill('|-')}|\n${fill('|b')}|` },
  { name: 'list items', text: lines(5000, (at) => `- item ${at}`).join('\n') },
  { name: 'headings', text: lines(5000, (at) => `# heading ${at}`).join('\n') },
  { name: 'links', text: lines(3000, (at) => `[link ${at}](https://a.example/${at})`).join(' ') },
  { name: 'bold words', text: fill('**a** _b_ ~~c~~ `d` ') },
  { name: 'what HTML escapes', text: fill('<&>"\'') },
  { name: 'what Markdown escapes', text: fill('*_~`[](){}#+-.!|>\\') },
  { name: 'mentions', text: fill('@everyone <!channel> ') },
  { name: 'empty lines', text: fill('a\n\n\n\n\n') },
  { name: 'open brackets', text: fill('[') },
  { name: 'open images', text: fill('![') },
  { name: 'open emphasis', text: fill('*a **b ') },
  { name: 'open backticks', text: lines(400, (at) => `${'`'.repeat(at + 1)} a`).join(' ') },
  { name: 'combining marks', text: fill('e\u0301\u0302\u0303') },
  { name: 'quotes in each other', text: `${'> '.repeat(2000)}deep` },
  { name: 'lists in each other', text: lines(200, (at) => `${'  '.repeat(at)}- level ${at}`).join('\n') },
  { name: 'list markers on one line', text: `${'- '.repeat(5000)}deep` },
  { name: 'emphasis in each other', text: `${'*a _b '.repeat(3000)}x${'_ *'.repeat(3000)}` },
  { name: 'links in each other', text: `${'['.repeat(2000)}x${'](https://a.example)'.repeat(2000)}` },
];

const FAMILY = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}';
const FLAG = '\u{1f1e9}\u{1f1ea}';
const THUMB = '\u{1f44d}\u{1f3fd}';

/** Long enough for every limit: whichever unit it counts, one of them is cut at each position of a sequence. */
const EMOJI: HostileText[] = [
  ...lines(FAMILY.length, (at) => fill('x', at) + FAMILY.repeat(4000)).map((text) => ({ name: 'families', text })),
  ...lines(4, (at) => fill('x', at) + FLAG.repeat(10_000)).map((text) => ({ name: 'flags', text })),
  ...lines(4, (at) => fill('x', at) + THUMB.repeat(10_000)).map((text) => ({ name: 'skin tones', text })),
  { name: 'emoji in bold code', text: `**\`${FAMILY.repeat(3000)}\`**` },
];

const describe = (kind: string, texts: readonly string[]): HostileText[] =>
  texts.map((text) => ({ name: `${kind}: ${JSON.stringify(text.slice(0, 60))}`, text }));

export const HOSTILE_TEXTS: readonly HostileText[] = [
  ...describe('mentions', MENTIONS),
  ...describe('links', LINKS),
  ...describe('characters', CHARACTERS),
  ...describe('broken', BROKEN),
  ...describe('subject', SUBJECTS),
  ...LONG_TEXTS,
  ...EMOJI.map(({ name, text }, at) => ({ name: `${name} ${at}`, text })),
];

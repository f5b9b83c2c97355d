import { getTexts } from '@carillon/texts';
import t from 'tap';
import { checkAssistants } from '../../src/carillon/doctor/assistants.ts';

const { doctor } = getTexts('en');
const BASE_URL = 'https://carillon.example.com';
const DOCUMENTS: Record<string, object> = {
  [`${BASE_URL}/.well-known/oauth-protected-resource/mcp`]: { resource: `${BASE_URL}/mcp` },
  [`${BASE_URL}/.well-known/oauth-authorization-server`]: { issuer: BASE_URL },
};

interface Installation {
  baseUrl?: string;
  dashboard?: boolean;
  addresses?: readonly string[];
  answer?: (url: string) => Response;
}

const check = ({
  baseUrl = BASE_URL,
  dashboard = true,
  addresses = ['93.184.216.34'],
  answer = (url) => Response.json(DOCUMENTS[url] ?? {}),
}: Installation = {}) =>
  checkAssistants({ baseUrl, dashboard }, doctor, {
    resolve: async () => addresses,
    fetch: async (url) => answer(String(url)),
  });

t.test('The doctor says whether the servers of assistants reach the installation', async (t) => {
  t.match(await check(), [{ level: 'ok', message: doctor.assistantsConnect(`${BASE_URL}/mcp`) }]);
  t.match(await check({ dashboard: false }), [{ level: 'ok', message: doctor.assistantsNeedPages }]);
  for (const [baseUrl, addresses] of [
    ['http://127.0.0.1:3000', []],
    ['http://[::1]:3000', []],
    ['https://carillon.home.arpa', ['192.168.1.7', 'fd00::7']],
    ['https://nowhere.invalid', []],
  ] as const) {
    t.match(await check({ baseUrl, addresses }), [{ level: 'ok', message: doctor.assistantsHere(baseUrl) }], baseUrl);
  }
});

t.test('The doctor warns of http, of IPv6 alone, of redirects and of missing documents', async (t) => {
  const http = 'http://carillon.example.com';
  t.match(await check({ baseUrl: http }), [{ level: 'warning', message: doctor.assistantsNeedHttps(http) }]);
  t.match(await check({ addresses: ['2606:2800:220:1:248:1893:25c8:1946'] }), [
    { level: 'warning', message: doctor.assistantsNeedIpv4('carillon.example.com') },
  ]);
  const [resource = '', server = ''] = Object.keys(DOCUMENTS);
  const redirects = () => Response.redirect('https://www.carillon.example.com/', 301);
  t.match(await check({ answer: redirects }), [{ level: 'warning', message: doctor.assistantsRedirected(resource) }]);
  const answers: ((url: string) => Response)[] = [
    (url) => (url === server ? new Response('<html>', { status: 404 }) : Response.json(DOCUMENTS[url])),
    (url) => Response.json(url === server ? { issuer: http } : DOCUMENTS[url]),
    (url) => (url === server ? Response.json(null) : Response.json(DOCUMENTS[url])),
  ];
  for (const answer of answers) {
    t.match(await check({ answer }), [{ level: 'warning', message: doctor.assistantsNotServed(server) }]);
  }
});

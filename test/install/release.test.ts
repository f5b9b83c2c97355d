import t from 'tap';
import { composeNotes } from '../../scripts/pack/release.ts';

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- [New](docs/new.md) things.\n\n## [1.0.0]\n\n- First.\n';

t.test('The notes are the section of the version, or what is unreleased', async (t) => {
  t.equal(composeNotes(CHANGELOG, '1.0.0'), '# Carillon 1.0.0\n\n- First.\n');
  t.equal(composeNotes(CHANGELOG, '2.0.0'), '# Carillon 2.0.0\n\n### Added\n\n- New things.\n');
});

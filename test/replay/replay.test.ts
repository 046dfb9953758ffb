// A history replayed as tasks, with only a setup and a gate configured: all of it lands, the tree
// equals the history's, and each state of the manifests is installed once. `node
// test/replay/main.ts` does the same with a public history.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { readHistory } from './history.ts';
import { replay, writeHistory } from './replay.ts';

const setup = 'mkdir -p node_modules && cp package.json node_modules/installed';
/** Red with the dependencies of another commit, and with a test whose code does not exist yet. */
const gate =
  'cmp -s package.json node_modules/installed || { echo "error: other dependencies are installed"; exit 1; }; ' +
  'for test in test/*; do [ -e "src/${test#test/}" ] || { echo "error: $test has no code"; exit 1; }; done';

/** Forty commits: code, its tests, text, and a dependency that is upgraded three times. */
function trees(): readonly Readonly<Record<string, string>>[] {
  const first = {
    'package.json': '{"dep":0}',
    'README.md': '0\n',
    '.gitignore': 'node_modules/\n',
  };
  const all: Record<string, string>[] = [{ ...first, 'src/0': '0\n', 'test/0': '0\n' }];
  for (let at = 1; at <= 40; at += 1) {
    if ([10, 20, 30].includes(at)) all.push({ 'package.json': `{"dep":${at}}` });
    else if (at % 4 === 0) all.push({ 'README.md': `${at}\n` });
    else if (at % 4 === 2) all.push({ [`test/${at - 1}`]: `${at}\n` });
    else all.push({ [`src/${at}`]: `${at}\n` });
  }
  return all;
}

suite('a replayed history', function () {
  this.timeout(900_000);
  let folder: string;
  suiteSetup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-history-'));
  });
  suiteTeardown(() => removeFolder(folder));

  test('it lands completely, with one setup for each state', async () => {
    writeHistory(folder, trees());
    const history = readHistory(folder, 'main', 40);
    const { code, said, open, isTreeEqual, setups } = await replay({
      repository: folder,
      history,
      setup,
      gate,
      workers: 4,
      variables: [],
      isKept: false,
    });
    assert.deepEqual(open, [], said);
    assert.equal(code, 0, said);
    assert.equal(isTreeEqual, true);
    assert.equal(history.setupStates, 4);
    assert.equal(setups.length, 4, setups.join(' '));
  });
});

// `npm run bench -- replay` on a small history: with edges all of it lands, also when the
// backend is killed, without edges nothing is lost, the mirror is only read, and the lines and the picture name what was measured.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeFolder } from '../remove-folder.ts';
import type { ReplayFigures } from './figures.ts';
import { writeHistory } from './replay.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** Changes of one list, of which each needs the one before, and of files of their own. */
function trees(): readonly Readonly<Record<string, string>>[] {
  const first = { 'list.txt': '0\n', 'README.md': 'replayed\n' };
  const lists = [1, 2, 3].map((at) => ({ 'list.txt': `0 to ${at}\n` }));
  const others = [1, 2, 3].map((at) => ({ [`src/${at}.txt`]: `${at}\n` }));
  return [first, ...lists.flatMap((list, at) => [list, others[at] ?? {}])];
}

suite('the bench of replayed histories', function () {
  this.timeout(600_000);
  let folder: string;
  suiteSetup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-replay-'));
  });
  suiteTeardown(() => removeFolder(folder));

  test('replays a mirror in each mode, with a kill, and draws it', async () => {
    const source = join(folder, 'source');
    const mirror = join(folder, 'small.git');
    execFileSync('git', ['init', '-q', source]);
    writeHistory(source, trees());
    execFileSync('git', ['clone', '-q', '--bare', source, mirror]);
    const filesOf = (path: string): readonly string[] =>
      readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
    const before = filesOf(mirror);
    const [json, svg] = [join(folder, 'lines'), join(folder, 'picture.svg')];
    const options = {
      window: '6',
      modes: 'oracle,files,none,forecast,by-hand,program',
      // The merges by hand are a program that keeps the contract.
      program: join(root, 'bench/replay/by-hand.sh'),
      'parallel-gates': '2',
      'agent-seconds': '1-2',
      'gate-seconds': '0.3-0.6',
      kill: '1',
      tmp: folder,
      json,
      svg,
    };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    await run(process.execPath, ['bench/main.ts', 'replay', mirror, ...args], { cwd: root });

    const lines = readFileSync(json, 'utf8').trim().split('\n');
    const figures = lines.map((line) => JSON.parse(line) as ReplayFigures);
    assert.deepEqual(
      figures.map(({ mode, lost, landed, open, tasks }) => [
        mode,
        lost,
        Math.round(landed * tasks) + open.length,
      ]),
      options.modes.split(',').map((mode) => [mode, [], 6]),
    );
    const of = (mode: string): ReplayFigures =>
      figures.find((each) => each.mode === mode) ?? assert.fail(mode);
    for (const mode of ['oracle', 'files', 'by-hand', 'program']) {
      const { landed, landedFirst, treeEqual } = of(mode);
      assert.deepEqual([mode, landed, landedFirst, treeEqual], [mode, 1, 1, true]);
    }
    assert.ok((of('none').conflicts ?? 0) > 0, 'the list is changed by three tasks at once');
    assert.ok(of('by-hand').toSerial >= 0.95, String(of('by-hand').toSerial));
    assert.equal(of('by-hand').gatesPerTask, 1);
    assert.deepEqual(filesOf(mirror), before);
    const picture = readFileSync(svg, 'utf8');
    for (const mode of options.modes.split(',')) assert.ok(picture.includes(`>${mode}`), mode);
    assert.match(picture, /time ÷ serial time/);
  });
});

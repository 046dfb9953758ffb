// A repository in which Drover is not set up yet: one clear state with a way on, and the way works.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as vscode from 'vscode';
import { activated, git, ready, untilBoard, waitMs, workspaceRoot } from './support.ts';

const megabyte = 1024 * 1024;
const looksMax = 80;
const lookMs = 250;
const idleBytesMax = 15 * megabyte;

suite('a repository without Drover', () => {
  let bytesBefore = 0;

  suiteSetup(async () => {
    await activated();
    bytesBefore = await usedBytes();
  });

  test('activation alone does not load the second bundle', async () => {
    assert.deepEqual(loadedBundles(), ['extension.cjs']);
    await ready();
    assert.deepEqual(loadedBundles(), ['extension-work.cjs', 'extension.cjs']);
  });

  test('it contains the licenses of its bundled packages, and a bill of materials', () => {
    const bundle =
      Object.keys(require.cache).find((path) => basename(path) === 'extension.cjs') ?? '';
    const folder = dirname(bundle);
    const bill = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string;
      readonly components: readonly {
        readonly group?: string;
        readonly name: string;
        readonly version: string;
      }[];
    };
    assert.equal(bill.bomFormat, 'CycloneDX');
    assert.ok(bill.components.length > 50);
    const notices = readFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const { group, name, version } of bill.components) {
      const whole = group === undefined ? name : `${group}/${name}`;
      assert.ok(notices.includes(`\n${whole} ${version}\n`), whole);
    }
  });

  test('it reports that, with the command that helps, and changes nothing by itself', async () => {
    const exports = await ready();
    await exports.until((connection) => {
      return connection.kind === 'unavailable' && connection.reason === 'not_initialised';
    }, waitMs);
    assert.ok(!existsSync(join(workspaceRoot(), '.drover')));
    await vscode.commands.executeCommand('drover.runAll');
    assert.match(exports.shown.join('\n'), /Drover is not set up in this repository yet/);
  });

  test('it is set up by one command, and connected', async () => {
    const exports = await ready();
    await vscode.commands.executeCommand('drover.initialise');
    const project = await untilBoard(exports, (board) => board.tasks.length === 0);
    assert.equal(project.root, workspaceRoot());
    assert.equal(git('status', '--porcelain'), '');
  });

  test('it adds little to the memory of the host once connected and idle', async () => {
    const added = (await usedBytes()) - bytesBefore;
    console.log(`[test]      (${(added / megabyte).toFixed(1)} MB)`);
    assert.ok(added <= idleBytesMax, `${(added / megabyte).toFixed(1)} MB`);
  });
});

/** The host has one cache for all that it and its extensions require. */
function loadedBundles(): readonly string[] {
  const names = Object.keys(require.cache).map((path) => basename(path));
  return names.filter((name) => /^extension(?:-work)?\.cjs$/.test(name)).sort();
}

/**
 * The memory in use after garbage collection, once it stays the same: the host is busy when it
 * starts.
 */
async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let last = 0;
  let sameLooks = 0;
  for (let looks = 0; looks < looksMax && sameLooks < 4; looks += 1) {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    const used = heapUsed + external;
    sameLooks = Math.abs(used - last) < megabyte / 4 ? sameLooks + 1 : 0;
    last = used;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  return last;
}

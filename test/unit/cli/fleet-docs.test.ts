// The settings and options in docs/fleet.md and its files exist.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../../../server/cli/program/program.ts';
import {
  fleetSettingKeys,
  fleetSettingTable,
} from '../../../server/core/settings/fleet-settings.ts';
import { parseDuration } from '../../../server/core/settings/setting-values.ts';
import type { SettingDefinition } from '../../../server/core/settings/settings.ts';

const docs = join(import.meta.dirname, '../../../docs');
const read = (name: string): string => readFileSync(join(docs, name), 'utf8');

suite('the documentation of fleets', () => {
  test('it names every setting with its flag, its variable and its default', () => {
    const rows = read('fleet.md').split('\n');
    for (const key of fleetSettingKeys) {
      const { env, flag, fallback }: SettingDefinition = fleetSettingTable[key];
      const row = rows.find((line) => line.startsWith(`| \`${key.replace('fleet.', '')}\` |`));
      assert.ok(row !== undefined, key);
      const cell = row.split('|')[2] ?? '';
      const said = [flag, env].flatMap((name) => (name === undefined ? [] : [`\`${name}\``]));
      assert.equal(cell.trim(), said.join(', '), row);
      if (typeof fallback === 'string') assert.ok(row.includes(`| \`${fallback}\` |`), row);
    }
  });

  test('its links lead to existing files', () => {
    const links = [...read('fleet.md').matchAll(/\]\(([\w./-]+)(#[\w-]+)?\)/gu)];
    assert.ok(links.length > 4);
    for (const [, path = ''] of links) assert.ok(existsSync(join(docs, path)), path);
  });

  test('compose: the command is valid, and the container may drain as long as it needs', async () => {
    const compose = read('fleet/compose.yaml');
    const listed = /^ {4}command: (\['--.*\])$/mu.exec(compose)?.[1] ?? '';
    const args = JSON.parse(listed.replaceAll("'", '"')) as readonly string[];
    let ran = 0;
    const host = {
      write: () => {},
      writeError: (text: string) => assert.fail(text),
      run: async () => void (ran += 1),
    };
    await buildProgram(host).parseAsync(['worker', ...args], { from: 'user' });
    assert.equal(ran, 1);
    const drainMs = parseDuration(args[args.indexOf('--drain-timeout') + 1] ?? '') ?? 0;
    const graceMs = parseDuration(/stop_grace_period: (\w+)/u.exec(compose)?.[1] ?? '') ?? 0;
    assert.ok(drainMs > 0 && graceMs > drainMs, `${graceMs} > ${drainMs}`);
    assert.doesNotMatch(compose, /\t/u);
  });

  test('compose: agents cannot reach its keys, and do not start without a sandbox', () => {
    const compose = read('fleet/compose.yaml');
    assert.match(compose, /^ {6}DROVER_SANDBOX: bwrap$/mu);
    for (const option of ['seccomp:unconfined', 'apparmor:unconfined', 'systempaths=unconfined'])
      assert.match(compose, new RegExp(`^ {4}security_opt: .*'${option}'`, 'mu'));
    assert.match(read('fleet/Dockerfile'), /install .*\bbubblewrap\b/u);
  });

  test('the start script works in any shell', () => {
    const { status, stderr } = spawnSync('/bin/sh', ['-n', join(docs, 'fleet/worker.sh')]);
    assert.equal(status, 0, stderr.toString());
  });
});

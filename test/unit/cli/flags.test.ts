// Flags and fields of requests agree: every field has its flag or a reason, every flag its field,
// and the schema of the request accepts every value that a flag accepts.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { buildProgram } from '../../../server/cli/program/program.ts';
import { readParams, requestShapes } from '../../../server/protocol/requests/read.ts';
import { commandRequests, otherCommands } from '../../docs/command-requests.ts';
import { drover } from '../../doubles/drover.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { removeFolder } from '../../remove-folder.ts';

const program = buildProgram({ write() {}, writeError() {}, run: async () => {} });
const globals = new Set(['--json', '-C', '--no-color']);

function commandsBelow(parent: Command, path: readonly string[] = []): [string, Command][] {
  return parent.commands.flatMap((command): [string, Command][] => {
    const name = [...path, command.name()];
    return [[name.join(' '), command], ...commandsBelow(command, name)];
  });
}

const commands = new Map(commandsBelow(program));

function flagOf({ long, short }: Option): string {
  return long ?? short ?? '';
}

function ownFlags(command: string): readonly Option[] {
  const { options = [] } = commands.get(command) ?? {};
  return options.filter((option) => !globals.has(flagOf(option)));
}

suite('flags and requests', () => {
  let folder = '';
  suiteSetup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-flags-'));
    writeFileSync(join(folder, 'FILE'), '{"id":"task-9","type":"task","title":"T"}\n');
    writeFileSync(join(folder, 'IMAGE'), 'GIF89a');
  });
  suiteTeardown(() => removeFolder(folder));

  test('every command sends a request, or is listed as an exception', () => {
    const known = [...Object.keys(commandRequests), ...Object.keys(otherCommands)];
    assert.deepEqual([...commands.keys()].toSorted(), known.toSorted());
  });

  for (const [command, { request, lines, others = {}, left = {} }] of Object.entries(
    commandRequests,
  )) {
    test(`${command}: its flags are the fields of ${request}`, async () => {
      const given = new Set<string>();
      for (const line of lines) {
        const backend = memoryBackend();
        const args = line.map((word) =>
          ['FILE', 'IMAGE'].includes(word) ? join(folder, word) : word,
        );
        const { err } = await drover([...command.split(' '), ...args], backend);
        const calls = backend.calls.filter(({ name }) => name === request);
        assert.notEqual(calls.length, 0, `${line.join(' ')}: ${err}`);
        for (const { params } of calls) {
          assert.deepEqual(readParams(request, params), { ok: true, value: params });
          for (const key of Object.keys(params as object)) given.add(key);
        }
      }
      const fields = Object.keys(requestShapes[request]);
      assert.deepEqual([...given, ...Object.keys(left)].toSorted(), fields.toSorted());
      const typed = new Set(lines.flat());
      const untold = ownFlags(command).filter((option) => {
        const isTyped = [option.long, option.short].some((flag) => typed.has(flag ?? ''));
        return !isTyped && !Object.hasOwn(others, flagOf(option));
      });
      assert.deepEqual(untold.map(flagOf), []);
    });
  }

  test('if a flag and its field are a choice, the values are the same', () => {
    const compared: string[] = [];
    for (const [command, { request, others = {} }] of Object.entries(commandRequests)) {
      for (const option of ownFlags(command)) {
        const choices = option.argChoices;
        const shape: Readonly<Record<string, (typeof requestShapes)['export']['format'] | object>> =
          requestShapes[request];
        const part = shape[option.attributeName().replaceAll(/[A-Z]/gu, '_$&').toLowerCase()];
        if (part === undefined || !('safeParse' in part) || flagOf(option) in others) continue;
        const issue = part.safeParse('no such word').error?.issues[0];
        if (issue?.code !== 'invalid_value') continue;
        compared.push(`${command} ${flagOf(option)}`);
        assert.deepEqual(choices, issue.values, `${command} ${flagOf(option)}`);
      }
    }
    assert.deepEqual(compared, ['import --format', 'export --format']);
  });
});

// Import and export of plans.

import type { Handlers } from '../../protocol/api.ts';
import { choiceOf, flagOf, given, integerOf, recordOf, textOf } from './params.ts';
import type { DataHandlerDeps } from './data-deps.ts';

/** As much as the wire carries: a file is handed over as one text. */
const fileCharactersMax = 40 * 1024 * 1024;
const badLinesMax = 1_000_000;
const foundMax = 20;

export function fileHandlers(deps: DataHandlerDeps): Pick<Handlers, 'import' | 'export'> {
  const { store } = deps;
  return {
    import: async (params) => {
      const record = recordOf(params);
      // Loaded with the first of them: no other request reads or writes files of plans.
      const { importFile } = await import('../../store/exchange/imports.ts');
      return importFile(store, {
        text: textOf(record['text'], 'text', fileCharactersMax),
        badUtf8Lines: badLines(record['bad_utf8_lines']),
        file: textOf(record['file'], 'file', 4_096),
        format: choiceOf(record['format'], 'format', ['auto', 'session', 'jsonl', 'beads']),
        dryRun: flagOf(record['dry_run'], 'dry_run'),
        update: flagOf(record['update'], 'update'),
        rename: flagOf(record['rename'], 'rename'),
        skipInvalid: flagOf(record['skip_invalid'], 'skip_invalid'),
        ...given({ base: presentOf(record['base'], 'base') }),
        maxAttempts: deps.settings().maxAttempts,
        knowsCommits: (shas) => knowsCommits(deps, shas),
      });
    },
    export: async (params) => {
      const record = recordOf(params);
      const { exportPlan } = await import('../../store/exchange/exports.ts');
      return exportPlan(store.db, {
        format: choiceOf(record['format'], 'format', ['session', 'json', 'yaml', 'beads', 'jsonl']),
        nowMs: store.sources.clock.now(),
        repository: deps.git.facts.root,
        ...given({
          present: presentOf(record['present'], 'present'),
          sync: syncOf(record['leave']),
        }),
      });
    },
  };
}

function presentOf(value: unknown, name: string): string | undefined {
  return value === undefined ? undefined : textOf(value, name, fileCharactersMax);
}

function syncOf(value: unknown): { readonly leave: readonly string[] } | undefined {
  if (value === undefined) return undefined;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return { leave: list.map((id) => textOf(id, 'leave', 64)) };
}

function badLines(value: unknown): number[] {
  if (value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  integerOf(list.length, 'bad_utf8_lines', { min: 0, max: badLinesMax });
  const bounds = { min: 1, max: Number.MAX_SAFE_INTEGER };
  return list.map((line) => integerOf(line, 'bad_utf8_lines', bounds));
}

/** A few tell for all of them: a session is from this repository or from another one. */
async function knowsCommits(deps: DataHandlerDeps, shas: readonly string[]): Promise<boolean> {
  for (const sha of shas.slice(0, foundMax)) {
    if (!/^[0-9a-f]{40,64}$/u.test(sha)) return false;
    if (!(await deps.git.resolve(sha)).ok) return false;
  }
  return true;
}

// Importing and exporting plans, and storing images of descriptions.

import { Refusal } from '../../core/failure.ts';
import type { Handlers } from '../../protocol/api.ts';
import type { DataHandlerDeps } from './data-deps.ts';

const foundMax = 20;

export function fileHandlers(
  deps: DataHandlerDeps,
): Pick<Handlers, 'attachment.add' | 'import' | 'export'> {
  const { store } = deps;
  return {
    'attachment.add': async ({ content }) => {
      // Node would skip invalid base64 and store a different image than the one sent.
      const bytes = Buffer.from(content, 'base64');
      if (bytes.toString('base64') !== content) {
        throw new Refusal('bad_request', '"content" must be base64.');
      }
      return { name: await deps.keepAttachment(bytes) };
    },
    import: async ({ base, ...given }) => {
      // Loaded on first use, because no other request reads or writes plan files.
      const { importFile } = await import('../../store/exchange/imports.ts');
      return importFile(store, {
        text: given.text,
        badUtf8Lines: given.bad_utf8_lines,
        file: given.file,
        format: given.format,
        dryRun: given.dry_run === true,
        update: given.update === true,
        rename: given.rename === true,
        skipInvalid: given.skip_invalid === true,
        ...(base !== undefined && { base }),
        maxAttempts: deps.settings().maxAttempts,
        knowsCommits: (shas) => knowsCommits(deps, shas),
      });
    },
    export: async ({ format, present, leave }) => {
      const { exportPlan } = await import('../../store/exchange/exports.ts');
      return exportPlan(store.db, {
        format,
        nowMs: store.sources.clock.now(),
        repository: deps.git.facts.root,
        ...(present !== undefined && { present }),
        ...(leave !== undefined && { sync: { leave } }),
      });
    },
  };
}

/** A few commits are enough: a session file is either from this repository or from another one. */
async function knowsCommits(deps: DataHandlerDeps, shas: readonly string[]): Promise<boolean> {
  for (const sha of shas.slice(0, foundMax)) {
    if (!/^[0-9a-f]{40,64}$/u.test(sha)) return false;
    if (!(await deps.git.resolve(sha)).ok) return false;
  }
  return true;
}

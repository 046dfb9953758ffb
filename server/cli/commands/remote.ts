// remote test, list, preview, destroy: the workers of remote attempts.

import { formatBytes } from '../../core/format.ts';
import type { LeftOut } from '../../core/work/left-out.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

export async function remoteList(context: CommandContext): Promise<number> {
  const root = await context.root();
  const { listRemote } = await context.surroundings.loadBackends();
  const list = await listRemote({ root, env: context.surroundings.env });
  const lines = list.workers.map(({ name, provisioner, run, state }) => {
    // No process follows the worker any more, whether or not a lease names it.
    const shown = state === 'running' ? state : 'orphan';
    return plainLine(
      `${name}  ${shown.padEnd(7)}  ${provisioner}${run === null ? '' : `  ${run}`}`,
    );
  });
  const orphans = list.workers.filter(({ state }) => state !== 'running');
  if (orphans.length > 0) {
    const [first] = orphans;
    context.tell(`To destroy an orphan: drover remote destroy ${plainLine(first?.name ?? '')}`);
  }
  for (const problem of list.problems) context.tell(`warning: ${plainLine(problem)}`);
  context.answer(list, lines.length === 0 ? 'No workers.' : lines.join('\n'));
  return exitCodes.done;
}

export async function remoteTest(
  context: CommandContext,
  options: { readonly acceptHostKey?: string },
): Promise<number> {
  const accepted = options.acceptHostKey ?? null;
  const root = await context.root();
  const { testRemote } = await context.surroundings.loadBackends();
  const result = await testRemote({ root, env: context.surroundings.env }, accepted);
  const { ok, message, provisioner, ms, host_key: key } = result;
  const words = ok
    ? `${message} (${provisioner}, ${ms} ms)`
    : `No worker by ${provisioner}: ${message}`;
  const isAcceptable = key !== null && !key.changed && accepted === null;
  const remedy = isAcceptable
    ? [`To accept the key: drover remote test --accept-host-key ${key.fingerprint}`]
    : [];
  context.answer(result, [words, ...remedy].map(plainLine).join('\n'));
  return ok ? exitCodes.done : exitCodes.failed;
}

/** Descriptions for files omitted by a rule. Other omitted files have sentences of their own. */
const rules: { readonly [R in LeftOut['reason']]?: string } = {
  ignored: '.droverignore names it',
  dependency: 'dependencies or build output that git does not track',
  own: "git's or Drover's own",
};
const rulesShown = 20;

export async function remotePreview(context: CommandContext): Promise<number> {
  const root = await context.root();
  const { previewRemote } = await context.surroundings.loadBackends();
  const preview = await previewRemote({ root, env: context.surroundings.env });
  const { files, bytes, largest, secrets, notices, env, refused } = preview;
  const byRule = preview.left_out.filter(({ reason }) => reason in rules);
  const lines = [
    refused ?? `${files} ${files === 1 ? 'file' : 'files'}, ${formatBytes(bytes)}`,
    ...largest.map((file) => `  ${formatBytes(file.bytes).padStart(8)}  ${file.path}`),
    ...(secrets.length === 0 ? [] : ['Not uploaded, because the names look like secrets:']),
    ...secrets.map((path) => `  ${path}`),
    ...notices,
    ...(byRule.length === 0 ? [] : ['Not uploaded, by rule:']),
    ...byRule.slice(0, rulesShown).map(({ path, reason }) => `  ${path}  ${rules[reason] ?? ''}`),
    ...(byRule.length > rulesShown ? [`  and ${byRule.length - rulesShown} more`] : []),
    ...(env.length === 0 ? [] : [`Variables in addition to the model's own: ${env.join(', ')}.`]),
  ];
  context.answer(preview, lines.map(plainLine).join('\n'));
  return refused === null ? exitCodes.done : exitCodes.failed;
}

export async function remoteDestroy(
  context: CommandContext,
  name: string,
  { force }: { readonly force?: boolean },
): Promise<number> {
  const root = await context.root();
  const { destroyRemote } = await context.surroundings.loadBackends();
  const { env } = context.surroundings;
  const result = await destroyRemote({ root, env }, name, force === true);
  context.answer(result, plainLine(`Worker ${name} is destroyed.`));
  return exitCodes.done;
}

// init: turns the repository into a project and asks, in a terminal, which agent to use and which
// command tests the work.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import { agentTitle } from '../../core/plan/agent-titles.ts';
import { withTable } from '../../core/settings/toml-text.ts';
import type { SetupProposal } from '../../core/work/gate-proposal.ts';
import type { DoctorReport } from '../backends.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

const fileName = '.drover.toml';

export async function init(
  context: CommandContext,
  { yes }: { readonly yes?: boolean },
): Promise<number> {
  const { env, loadBackends, stdout } = context.surroundings;
  const { initProject } = await loadBackends();
  const made = await initProject(context.directory, env);
  const { root, database, already, warnings = [], proposal = null } = made;
  const isTerminal = stdout.isTTY && !context.json && !already;
  const written =
    isTerminal && yes !== true && proposal !== null
      ? await askForSettings(context, root, proposal)
      : [];
  const done = already
    ? `${root} is a Drover project already; nothing was changed.`
    : `${root} is a Drover project now (database: ${database}). Next: drover add "…", then drover run.`;
  const share = isTerminal
    ? [`${fileName} is not tracked by git yet: commit it to share these settings.`]
    : [];
  const lines = [...written, done, ...share];
  const text = [...lines, ...warnings.map((warning) => `Warning: ${plainLine(warning)}`)].join(
    '\n',
  );
  if (context.json) context.tell(text);
  const open = proposal === null || proposal.asks.length === 0 ? {} : { proposal };
  context.answer({ root, database, ...open }, text);
  return exitCodes.done;
}

type Ask = (question: string) => Promise<string | null>;

/** At the end of the input, the defaults apply. Returns the lines that report the result. */
async function askForSettings(
  context: CommandContext,
  root: string,
  { asks, gate }: SetupProposal,
): Promise<readonly string[]> {
  const ask = context.surroundings.askLine;
  if (ask === null) return [];
  const agent = asks.includes('agent') ? await askAgent(context, ask, root) : null;
  if (agent === undefined) return keptWords;
  const command = asks.includes('gate') ? await askGate(context, ask, gate?.command ?? null) : null;
  if (command === undefined) return keptWords;
  const path = join(root, fileName);
  const before = await readFile(path, 'utf8').catch(() => '');
  const tables = {
    ...(agent && { agent: { kind: agent } }),
    ...(command && { gate: { command } }),
  };
  let text = before;
  for (const [table, values] of Object.entries(tables)) {
    const changed = withTable(text, table, values);
    if (changed === null)
      throw new Refusal('file', `${fileName} sets [${table}] in a form that only you can change.`);
    text = changed;
  }
  if (text === before) return [];
  await writeFile(path, text);
  const what = [...(agent ? [`agent ${agent}`] : []), ...(command ? [`gate “${command}”`] : [])];
  return [plainLine(`Wrote ${what.join(' and ')} to ${fileName}.`)];
}

const keptWords: readonly string[] = ['The defaults are kept.'];

/** Returns null if no agent was found, undefined at the end of the input. */
async function askAgent(
  context: CommandContext,
  ask: Ask,
  root: string,
): Promise<string | null | undefined> {
  context.tell('Looking for agents …');
  const { agents } = await (await context.surroundings.loadBackends()).doctor(root);
  const found = agents.filter((each) => each.found && each.broken !== true && each.kind !== 'demo');
  if (found.length === 0) {
    context.tell('No agent is installed. "drover doctor" lists how to install one.');
    return null;
  }
  const ready = found.toSorted(
    (a, b) => Number(a.signed_in === false) - Number(b.signed_in === false),
  );
  context.tell('Which agent works on your tasks?');
  for (const [at, each] of ready.entries()) context.tell(`  ${at + 1}  ${agentWords(each)}`);
  for (;;) {
    const given = await ask(`A number, or Enter for ${ready[0]?.kind ?? ''}: `);
    if (given === null) return undefined;
    const text = given.trim();
    const chosen = text === '' ? ready[0] : ready[Number(text) - 1];
    const named = chosen ?? ready.find(({ kind }) => kind === text);
    if (named !== undefined) return named.kind;
  }
}

function agentWords({ kind, version, signed_in: isIn }: DoctorReport['agents'][number]): string {
  const login = isIn === null ? [] : [isIn ? 'signed in' : 'not signed in'];
  return plainLine([agentTitle(kind), ...(version === null ? [] : [version]), ...login].join(', '));
}

/** Returns null for no gate, undefined at the end of the input. */
async function askGate(
  context: CommandContext,
  ask: Ask,
  found: string | null,
): Promise<string | null | undefined> {
  context.tell('Which command tests the work before it lands (the gate)?');
  const usual = found === null ? 'Enter for none' : `Enter for “${plainLine(found)}”, or none`;
  const given = await ask(`A command, ${usual}: `);
  if (given === null) return undefined;
  const text = given.trim();
  if (text === '') return found;
  return text.toLowerCase() === 'none' ? null : text;
}

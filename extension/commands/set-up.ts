// The questions after Drover was set up in a repository: agent, gate and workers, each with its
// recommendation first. The answers are written to `.drover.toml`, which the user should commit.

import * as vscode from 'vscode';
import { formatCount } from '../../server/core/format.ts';
import { withTable, withTopValue } from '../../server/core/settings/toml-text.ts';
import type { SetupProposal } from '../../server/core/work/gate-proposal.ts';
import { keyboardBack } from '../notices/keyboard-back.ts';
import { changeProjectFile } from '../project/project-file.ts';
import { openInstall, pickAgent } from './agents.ts';
import type { CommandContext } from './context.ts';

interface Answers {
  agent?: { readonly kind: string; readonly label: string };
  gate?: string;
  workers?: number;
  /** The remaining step in a terminal. */
  install?: { readonly label: string; readonly line: string };
}

/** `printed`: the output of `drover init --json`. */
export async function askAfterSetup(
  context: CommandContext,
  root: string,
  printed: string,
): Promise<void> {
  const { proposal } = JSON.parse(printed) as { readonly proposal?: SetupProposal };
  if (proposal === undefined || proposal.asks.length === 0) return;
  const back = keyboardBack();
  const answers: Answers = {};
  for (const [at, name] of proposal.asks.entries()) {
    const title = `Set Up Drover (${at + 1}/${proposal.asks.length})`;
    if (await askOne(context, name, title, proposal, answers)) continue;
    const kept = 'Nothing was written: Drover uses its defaults. Change them in .drover.toml.';
    context.messages.tell('info', kept);
    return await back();
  }
  await save(context, root, answers);
  await back();
}

/** Returns false if the user pressed Escape. */
async function askOne(
  context: CommandContext,
  name: SetupProposal['asks'][number],
  title: string,
  { gate, workers }: SetupProposal,
  answers: Answers,
): Promise<boolean> {
  switch (name) {
    case 'agent': {
      const texts = { title: `${title}: Agent`, placeHolder: 'Which agent works on your tasks?' };
      const chosen = await pickAgent(context, texts);
      if (chosen === null) return false;
      answers.agent = { kind: chosen.agent, label: chosen.label };
      if (chosen.kind === 'missing') answers.install = chosen;
      return true;
    }
    case 'gate':
      return await askGate(`${title}: Gate`, gate, answers);
    case 'workers': {
      const counts = new Set([workers, 1, 2, 3, 4, 6, 8]);
      const items = [...counts].map((count) => ({
        label: String(count),
        description: count === workers ? 'recommended' : '',
        count,
      }));
      const placeHolder = 'How many agents may work at the same time?';
      const chosen = await vscode.window.showQuickPick(items, {
        title: `${title}: Workers`,
        placeHolder,
        ignoreFocusOut: true,
      });
      if (chosen !== undefined) answers.workers = chosen.count;
      return chosen !== undefined;
    }
  }
}

async function askGate(
  title: string,
  found: SetupProposal['gate'],
  answers: Answers,
): Promise<boolean> {
  const none = { label: 'No gate yet', detail: 'Nothing is tested before it lands.' };
  const other = {
    label: 'Another command…',
    detail: 'A shell command that tests the merged code.',
  };
  const usual =
    found === null
      ? []
      : [{ label: found.command, description: 'recommended', detail: `Found in ${found.file}.` }];
  const items = found === null ? [none, other] : [...usual, other, none];
  const placeHolder = 'Which command tests the work before it lands?';
  const chosen = await vscode.window.showQuickPick(items, {
    title,
    placeHolder,
    ignoreFocusOut: true,
  });
  if (chosen === undefined) return false;
  if (chosen === none) return true;
  if (chosen !== other) {
    answers.gate = chosen.label;
    return true;
  }
  const prompt = 'Shell command that tests the merged code, for example: npm test';
  const typed = await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true });
  if (typed === undefined) return false;
  if (typed.trim() !== '') answers.gate = typed.trim();
  return true;
}

async function save(
  { messages }: CommandContext,
  root: string,
  { agent, gate, workers, install }: Answers,
): Promise<void> {
  const said = [
    ...(agent === undefined ? [] : [agent.label]),
    ...(gate === undefined ? [] : [`gate “${gate}”`]),
    ...(workers === undefined ? [] : [formatCount(workers, 'worker')]),
  ];
  if (said.length > 0)
    await changeProjectFile(root, 'the agent or the gate', (before) => {
      let text: string | null = before;
      if (workers !== undefined) text = withTopValue(text, 'max_workers', workers);
      if (agent !== undefined) text = withTable(text, 'agent', { kind: agent.kind });
      if (text !== null && gate !== undefined) text = withTable(text, 'gate', { command: gate });
      return text;
    });
  const written = `.drover.toml has your choices: ${said.join(', ')}. Commit it to share them.`;
  const next = install === undefined ? [] : [`${openInstall(install.label, install.line)}.`];
  const sentences = [...next, ...(said.length > 0 ? [written] : [])];
  if (sentences.length > 0) messages.tell('info', sentences.join(' '));
}

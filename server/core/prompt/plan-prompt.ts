// The prompt sections about a plan: for the agent that writes one, and for agents that follow it.

import { cutEnd, fenced } from './prompt-text.ts';

/** Maximum length of a plan that is stored, displayed and included in prompts. */
export const planCharactersMax = 32_000;

const commentMax = 8_000;

export interface SentBackPlan {
  readonly text: string;
  readonly comment: string;
}

export type PromptPlan =
  /** The agent only writes a plan. `sentBack`: its previous plan, which a person sent back. */
  | { readonly kind: 'make'; readonly sentBack: SentBackPlan | null }
  | { readonly kind: 'approved'; readonly text: string };

/** Returns the plan as it is stored: trimmed, and truncated if it is too long. */
export function boundedPlan(text: string): string {
  const plan = text.trim();
  // Leaves room for the note about omitted text.
  return plan.length <= planCharactersMax ? plan : cutEnd(plan, planCharactersMax - 100);
}

/** Follows directly after the task. */
export function planSection(plan: PromptPlan): string {
  if (plan.kind === 'make') return plan.sentBack === null ? '' : sentBackSection(plan.sentBack);
  return [
    '## The Approved Plan',
    'A person has approved this plan for the task. Follow it; if it turns out to be wrong, do what the task needs and',
    'say so in your summary.',
    fenced(cutEnd(plan.text.trim(), planCharactersMax)),
  ].join('\n');
}

function sentBackSection({ text, comment }: SentBackPlan): string {
  return [
    '## Your Plan Was Sent Back',
    'A person reviewed it and wrote:',
    fenced(cutEnd(comment.trim(), commentMax)),
    'This was the plan:',
    fenced(cutEnd(text.trim(), planCharactersMax)),
  ].join('\n');
}

/** Replaces all other rules for an agent that writes a plan. */
export const planRules = [
  '## Rules',
  '- Only plan, do not implement: read what you need, but do not change, create or delete files, and do not commit.',
  '- Files that you change anyway are removed from your working directory and never used.',
  '- End with the whole plan as your final message, in Markdown: what to change and where, in which order, how it is',
  '  tested, what is open or risky. Do not ask for permission to start.',
  '- A person reads the plan and approves it or sends it back; then the agent that implements it receives it.',
].join('\n');

/**
 * The next message to an agent whose plan was sent back. The conversation already contains
 * everything else.
 */
export function planAgainPrompt(sentBack: SentBackPlan, hints: string): string {
  const sections = [sentBackSection(sentBack), hints, planRules];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

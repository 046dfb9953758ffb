// A machine administrator's rules, from files that user settings cannot weaken. If there are
// several files, a request must satisfy all of them.

import { err, ok, type Result } from '../failure.ts';

/** The decisions that a policy can restrict to certain persons. */
export const policyActs = ['approve', 'land', 'trust'] as const;
export type PolicyAct = (typeof policyActs)[number];

export interface Policy {
  /** The path, for use in sentences. */
  readonly file: string;
  /** User names; null = everyone. */
  readonly persons: { readonly [A in PolicyAct]: readonly string[] | null };
  /** Kinds of agents; null = all kinds. */
  readonly agents: readonly string[] | null;
  readonly sandboxRequired: boolean;
}

/** An existing file. An invalid file refuses everything that a policy could refuse. */
export type PolicyFile =
  | { readonly kind: 'policy'; readonly policy: Policy }
  | { readonly kind: 'unusable'; readonly file: string; readonly reason: string };

const listKeys = [...policyActs, 'agents'] as const;
const keys: readonly string[] = [...listKeys, 'sandbox_required'];

/**
 * Reads the `[policy]` table of a file. The error continues a sentence that starts with the file's
 * path.
 */
export function readPolicy(file: string, content: unknown): Result<Policy, string> {
  const { policy: table, ...rest } = tableOf(content);
  const [other] = Object.keys(rest);
  if (other !== undefined) return err(`has \`${other}\` outside of [policy]`);
  if (typeof table !== 'object' || table === null) return err('has no table [policy]');
  const values = tableOf(table);
  const unknown = Object.keys(values).find((key) => !keys.includes(key));
  if (unknown !== undefined)
    return err(`has an unknown rule \`${unknown}\`; the rules are ${keys.join(', ')}`);
  const wrong = listKeys.find((key) => values[key] !== undefined && !isNames(values[key]));
  if (wrong !== undefined) return err(`has a \`${wrong}\` that is no list of names`);
  const required = values['sandbox_required'] ?? false;
  if (typeof required !== 'boolean')
    return err('has a `sandbox_required` that is no true or false');
  const list = (key: (typeof listKeys)[number]): readonly string[] | null =>
    (values[key] as readonly string[] | undefined) ?? null;
  return ok({
    file,
    persons: { approve: list('approve'), land: list('land'), trust: list('trust') },
    agents: list('agents'),
    sandboxRequired: required,
  });
}

function tableOf(value: unknown): Readonly<Record<string, unknown>> {
  return { ...(value as object) };
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');
}

const actWords: { readonly [A in PolicyAct]: string } = {
  approve: 'approve work',
  land: 'land work without a review',
  trust: 'accept settings of a repository',
};

const ways: { readonly [A in PolicyAct]: string } = {
  approve: '',
  land: ' An epic with --land review or --land pr is allowed.',
  trust: '',
};

/** A sentence that says why this person may not do it. Returns null if every file allows it. */
export function whyNotAllowed(
  files: readonly PolicyFile[],
  act: PolicyAct,
  person: string,
): string | null {
  for (const each of files) {
    if (each.kind === 'unusable') return unusableSentence(each);
    const { file, persons } = each.policy;
    const allowed = persons[act];
    if (allowed === null || allowed.includes(person)) continue;
    return `${person} may not ${actWords[act]} on this machine: the policy ${file} allows it to ${namesText(allowed)}.${ways[act]}`;
  }
  return null;
}

/**
 * A sentence that says why this kind of agent may not be used. Returns null if every file allows
 * it.
 */
export function whyNoAgent(files: readonly PolicyFile[], kind: string): string | null {
  for (const each of files) {
    if (each.kind === 'unusable') return unusableSentence(each);
    const { agents, file } = each.policy;
    if (agents === null || agents.includes(kind)) continue;
    return `The agent ${kind} is not used on this machine: the policy ${file} allows ${namesText(agents)}.`;
  }
  return null;
}

/** An invalid file does not require the sandbox, because it prevents every agent from starting. */
export function requiresSandbox(files: readonly PolicyFile[]): boolean {
  return files.some((each) => each.kind === 'policy' && each.policy.sandboxRequired);
}

/** Formats a file's rules for `drover doctor`. */
export function policyText(each: PolicyFile): string {
  if (each.kind === 'unusable') return unusableSentence(each);
  const { file, persons, agents, sandboxRequired } = each.policy;
  const rules = policyActs.flatMap((act) => {
    const allowed = persons[act];
    return allowed === null ? [] : [`${act}: ${namesText(allowed)}`];
  });
  if (agents !== null) rules.push(`agents: ${namesText(agents)}`);
  if (sandboxRequired) rules.push('the sandbox is required');
  return `${file}: ${rules.length === 0 ? 'no rules' : rules.join('; ')}`;
}

function unusableSentence({ file, reason }: Extract<PolicyFile, { kind: 'unusable' }>): string {
  return `The policy ${file} ${reason}. Until its administrator mends it, this machine starts no agent, approves and lands nothing, and accepts no settings.`;
}

function namesText(names: readonly string[]): string {
  return names.length === 0 ? 'nobody' : names.join(', ');
}

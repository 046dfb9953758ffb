// The hosts that a confined program may reach, as `[sandbox] network` lists them: names with a
// port, and names for a whole domain. Matching uses names only; addresses are checked when the
// connection is made.

export interface HostRule {
  /** Lower case; `*.` at the start stands for every name below it. */
  readonly name: string;
  /** `web`: 80 and 443. */
  readonly port: number | 'web' | 'any';
}

export const hostRuleExpected =
  'hosts such as "registry.npmjs.org", "*.example.com", "localhost:5432" or "[::1]:5432"';

const namePattern =
  /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** Returns null if the text names no host. */
export function parseHostRule(text: string): HostRule | null {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::([0-9]{1,5}|\*))?$/.exec(text.toLowerCase());
  const name = hostName(match?.[1] ?? '');
  if (match === null || name.length > 253) return null;
  if (!name.includes(':') && !namePattern.test(name)) return null;
  const port = match[2];
  if (port === undefined) return { name, port: 'web' };
  if (port === '*') return { name, port: 'any' };
  const number = Number(port);
  return number >= 1 && number <= 65_535 ? { name, port: number } : null;
}

/** Normalizes a name for comparison: without the dot of the root and the brackets of an address. */
export function hostName(text: string): string {
  return text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

/** The rule that allows the connection, or null if none does. */
export function findRule(rules: readonly HostRule[], host: string, port: number): HostRule | null {
  const name = hostName(host);
  const isPort = (rule: HostRule): boolean =>
    rule.port === 'any' || (rule.port === 'web' ? port === 80 || port === 443 : rule.port === port);
  const isName = (rule: HostRule): boolean =>
    rule.name.startsWith('*.')
      ? name.endsWith(rule.name.slice(1))
      : rule.name === name || (isOwnMachine(rule.name) && isOwnMachine(name));
  return rules.find((rule) => isPort(rule) && isName(rule)) ?? null;
}

/** Names of this machine itself: its services have no other. */
export function isOwnMachine(name: string): boolean {
  return name === 'localhost' || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name);
}

/** Ports of this machine that the rules allow one by one. */
export function ownPorts(rules: readonly string[]): readonly number[] {
  const parsed = rules.flatMap((rule) => parseHostRule(rule) ?? []);
  return parsed.flatMap(({ name, port }) => {
    if (!isOwnMachine(name) || port === 'any') return [];
    return port === 'web' ? [80, 443] : [port];
  });
}

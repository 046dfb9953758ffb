// The agents that can be chosen on this machine, with found and signed-in agents first. Pure.

import { agentTitles } from '../../server/core/plan/agent-titles.ts';
import { agentKinds, type AgentKind } from '../../server/core/plan/task.ts';

export interface AgentRow {
  readonly kind: AgentKind;
  readonly label: string;
  readonly description: string;
  /** The missing part and how to get it, or an empty string if nothing is missing. */
  readonly detail: string;
  /**
   * A heading above this row that names the group; if empty, the row continues the previous group.
   */
  readonly group: string;
  /** The command line that installs the agent. Null if it is installed or no installer is known. */
  readonly install: string | null;
}

/** The command lines that a person uses to sign in; agents without one only use keys. */
const signInLines: { readonly [K in AgentKind]?: string } = {
  claude: 'claude',
  codex: 'codex login',
  opencode: 'opencode auth login',
  gemini: 'gemini',
  copilot: 'copilot',
  amp: 'amp login',
};

export function signInLine(kind: string): string | null {
  return agentKinds.includes(kind as AgentKind) ? (signInLines[kind as AgentKind] ?? null) : null;
}

interface Found {
  readonly found: boolean;
  readonly version: string | null;
  readonly signed_in: boolean | null;
  readonly remedy: string | null;
  readonly broken?: boolean;
}

const names = { ...agentTitles, demo: 'Demo agent (no model, no cost)' };

/** `doctor` is the output of `drover doctor --json`; any other text contains no agents. */
export function agentRows(doctor: string, current: string): readonly AgentRow[] {
  const found = readDoctor(doctor);
  const rows = agentKinds.map((kind) => {
    const state = found.get(kind) ?? null;
    const needsProgram = state !== null && !state.found;
    const group = groupOf(kind, state);
    const facts = [
      ...(kind === current ? ['current'] : []),
      ...(typeof state?.version === 'string' ? [state.version] : []),
      ...(state?.signed_in === true ? ['signed in'] : []),
      ...(group === 'Not signed in' ? ['not signed in'] : []),
    ];
    const install = needsProgram ? installLineIn(state.remedy ?? '') : null;
    return {
      kind,
      label: names[kind],
      description: facts.join(' · '),
      detail: detailFrom(state?.remedy ?? '', install),
      install,
      group,
    };
  });
  const sorted = groups.flatMap((group) => rows.filter((each) => each.group === group));
  return sorted.map((each, at) => {
    return sorted[at - 1]?.group === each.group ? { ...each, group: '' } : each;
  });
}

const groups = [
  'Ready',
  'Not signed in',
  'Not working',
  'Not installed',
  'To try Drover out',
] as const;

function groupOf(kind: AgentKind, state: Found | null): (typeof groups)[number] {
  if (state === null) return 'Ready';
  // The demo agent does no real work, so it is never first in the list.
  if (kind === 'demo') return 'To try Drover out';
  if (!state.found) return 'Not installed';
  if (state.broken === true) return 'Not working';
  return state.signed_in === false ? 'Not signed in' : 'Ready';
}

function installLineIn(remedy: string): string | null {
  return /^npm install -g [@\w./-]+?(?=\.?$)/.exec(remedy)?.[0] ?? null;
}

/** Drops the full stop after a command line, which would otherwise be copied with it. */
function detailFrom(remedy: string, install: string | null): string {
  if (install !== null) return `Enter opens a terminal with: ${install}`;
  return remedy.charAt(0).toUpperCase() + remedy.slice(1);
}

function readDoctor(doctor: string): ReadonlyMap<string, Found> {
  let raw: unknown;
  try {
    raw = JSON.parse(doctor);
  } catch {
    return new Map();
  }
  const { agents } = (typeof raw === 'object' && raw !== null ? raw : {}) as { agents?: unknown };
  if (!Array.isArray(agents)) return new Map();
  return new Map(
    (agents as readonly (Found & { readonly kind: string })[])
      .filter((agent) => typeof agent?.kind === 'string')
      .map((agent) => [agent.kind, agent]),
  );
}

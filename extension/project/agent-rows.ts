// The agents that can be chosen, as this machine has them: what is found and signed in comes first.
// Pure.

import { agentTitles } from '../../server/core/plan/agent-titles.ts';
import { agentKinds, type AgentKind } from '../../server/core/plan/task.ts';

export interface AgentRow {
  readonly kind: AgentKind;
  readonly label: string;
  readonly description: string;
  /** What is missing, and how to get it; empty where nothing is. */
  readonly detail: string;
  /** A line above this row that names the group; empty: it continues the group before it. */
  readonly group: string;
}

interface Found {
  readonly found: boolean;
  readonly version: string | null;
  readonly signed_in: boolean | null;
  readonly remedy: string | null;
}

const names = { ...agentTitles, demo: 'Demo agent (no model, no cost)' };

/** `doctor`: what `drover doctor --json` printed; anything else tells nothing of any agent. */
export function agentRows(doctor: string, current: string): readonly AgentRow[] {
  const found = readDoctor(doctor);
  const rows = agentKinds.map((kind) => {
    const state = found.get(kind) ?? null;
    const needsProgram = state !== null && !state.found;
    const facts = [
      ...(kind === current ? ['current'] : []),
      ...(typeof state?.version === 'string' ? [state.version] : []),
      ...(state?.signed_in === true ? ['signed in'] : []),
      ...(state?.found === true && state.signed_in === false ? ['not signed in'] : []),
    ];
    const isReady = state === null || (state.found && state.signed_in !== false);
    return {
      kind,
      label: names[kind],
      description: facts.join(' · '),
      detail: isReady ? '' : (state.remedy ?? ''),
      group: needsProgram ? 'Not installed' : isReady ? 'Ready' : 'Not signed in',
    };
  });
  const groups = ['Ready', 'Not signed in', 'Not installed'];
  const sorted = groups.flatMap((group) => rows.filter((each) => each.group === group));
  return sorted.map((each, at) => {
    return sorted[at - 1]?.group === each.group ? { ...each, group: '' } : each;
  });
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

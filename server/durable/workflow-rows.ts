// The rows of a workflow that both adapters write and read, and the result of a claim.

import { fromJson } from './json.ts';
import type { WorkflowInfo, WorkflowState } from './port.ts';

export interface NewWorkflow {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly priority: number;
  /** JSON. */
  readonly input: string;
}

export interface WorkflowRow {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly state: WorkflowState;
  /** JSON. */
  readonly result: string | null;
  readonly error: string | null;
}

export function toInfo(row: WorkflowRow, compatibility: number | null): WorkflowInfo {
  const { id, name, queue, state, result, error } = row;
  return { id, name, queue, state, result: fromJson(result) ?? null, error, compatibility };
}

/** The workflows that this process may claim. */
export interface Claimable {
  /** Names whose bodies this process has. */
  readonly names: readonly string[];
  /** Workflows whose body still runs here from an earlier, lost claim. */
  readonly notIds: readonly string[];
}

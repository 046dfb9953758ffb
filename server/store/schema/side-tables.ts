// Tables beside the plan's own.

import type { ForecastTables } from './forecast-rows.ts';
import type { ForgeTables } from './forge-rows.ts';
import type { NoteTables } from './note-rows.ts';
import type { ReviewTables } from './review-rows.ts';
import type { OutgoingTables } from './webhook-rows.ts';
import type { RepositoryTable } from './repository-table.ts';

export interface SideTables
  extends OutgoingTables, ForgeTables, NoteTables, ForecastTables, ReviewTables {
  repository: RepositoryTable;
  base_gates: BaseGateTable;
}

export interface BaseGateTable {
  line: string;
  /** `asked`: the gate must run before the next task starts. `unknown`: it had no result. */
  state: 'asked' | 'running' | 'green' | 'red' | 'unknown';
  /** Red verdicts from before this time (Unix ms) are ignored. */
  asked_ms: number;
  commit_sha: string | null;
  command: string | null;
  workflow: string | null;
  since_ms: number;
  /** How long agents wait for the gate before they start while it runs. */
  wait_ms: number;
  reason: string | null;
}

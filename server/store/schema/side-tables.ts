// Tables beside the plan's own.

import type { RepositoryTable } from './repository-rows.ts';
import type { OutgoingTables } from './webhook-rows.ts';

export interface SideTables extends OutgoingTables {
  repository: RepositoryTable;
}

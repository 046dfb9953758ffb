// Tables beside the plan's own.

import type { OutgoingTables } from './webhook-rows.ts';
import type { RepositoryTable } from './repository-table.ts';

export interface SideTables extends OutgoingTables {
  repository: RepositoryTable;
}

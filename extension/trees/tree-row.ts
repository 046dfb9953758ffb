// A row of the views of remote workers and of machines: its texts, and its child rows. Pure.

export interface TreeRow {
  /** Stable for the same item, so that VS Code keeps it expanded. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** Name of a codicon, and of its theme color. */
  readonly icon: string;
  readonly color: string | null;
  /** For the manifest's conditions. */
  readonly context: string;
  readonly isOpen: boolean;
  readonly children: readonly TreeRow[];
  /** A worker that can be destroyed. */
  readonly worker: WorkerOfRow | null;
  /** Opened by a click; a null attempt means the latest one. */
  readonly stream: { readonly task: string; readonly attempt: number | null } | null;
}

export interface WorkerOfRow {
  readonly name: string;
  readonly isRunning: boolean;
  /** Null if the row names no task of this clone. */
  readonly task: string | null;
  /** Null if the board does not know the task. */
  readonly title: string | null;
  readonly attempt: number | null;
}

type RowParts = Pick<TreeRow, 'id' | 'label'> & Partial<TreeRow>;

export function treeRow(parts: RowParts): TreeRow {
  return {
    description: '',
    tooltip: parts.label,
    icon: 'blank',
    color: null,
    context: '',
    isOpen: false,
    children: [],
    worker: null,
    stream: null,
    ...parts,
  };
}

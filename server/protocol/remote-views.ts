// The workers of remote attempts, as `drover remote` shows them.

export interface WorkerView {
  readonly name: string;
  readonly provisioner: string;
  /** `<task id>/<attempt>/<part>`; null: no lease of this clone names it. */
  readonly run: string | null;
  /** `running`: followed. `left`: its follower is gone. `unknown`: no lease names it. */
  readonly state: 'running' | 'left' | 'unknown';
  /** Unix seconds. */
  readonly created_at: number | null;
}

export interface RemoteList {
  readonly provisioner: string | null;
  readonly workers: readonly WorkerView[];
  readonly problems: readonly string[];
}

export interface RemoteTest {
  readonly provisioner: string;
  readonly ok: boolean;
  readonly message: string;
  readonly ms: number;
}

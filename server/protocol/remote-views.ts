// The workers of remote attempts, as `drover remote` shows them.

import type { LeftOut } from '../core/work/left-out.ts';

export interface WorkerView {
  readonly name: string;
  readonly provisioner: string;
  /** `<task id>/<attempt>/<part>`. Null if no lease of this clone names it. */
  readonly run: string | null;
  /** `running`: followed. `left`: its follower has exited. `unknown`: it has no lease. */
  readonly state: 'running' | 'left' | 'unknown';
  /** Unix seconds. */
  readonly created_at: number | null;
}

export interface RemoteList {
  readonly provisioner: string | null;
  readonly workers: readonly WorkerView[];
  readonly problems: readonly string[];
}

/** The key by which an ssh host proves itself. */
export interface HostKeyView {
  readonly host: string;
  readonly kind: string;
  /** `SHA256:…` */
  readonly fingerprint: string;
  /** Another key of the host is known, so that this one cannot be accepted. */
  readonly changed: boolean;
}

export interface RemoteTest {
  readonly provisioner: string;
  readonly ok: boolean;
  readonly message: string;
  /** Present if the test failed because of it. */
  readonly host_key: HostKeyView | null;
  readonly ms: number;
}

/** The upload of one folder without its subfolders; '' is the project's own. */
export interface UploadFolderView {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

/** The files that an attempt would upload now, and those that stay here. */
export interface RemotePreview {
  readonly provisioner: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly largest: readonly { readonly path: string; readonly bytes: number }[];
  /** Omitted because their names look like secrets. */
  readonly secrets: readonly string[];
  /** Sentences: other files that are left out, and why. */
  readonly notices: readonly string[];
  /** The first of them, by path. */
  readonly folders: readonly UploadFolderView[];
  /** The files that stay here, except those that git itself ignores: the first of them, by path. */
  readonly left_out: readonly LeftOut[];
  /** How many folders and left-out paths there are beyond those. */
  readonly folders_more: number;
  readonly left_out_more: number;
  /** Names of the variables beside the model's own that a worker gets. */
  readonly env: readonly string[];
  /** Why nothing would be uploaded. Null if the upload would succeed. */
  readonly refused: string | null;
}

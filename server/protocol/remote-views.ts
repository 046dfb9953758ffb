// The workers of remote attempts for `drover remote`.

import type { LeftOut } from '../core/work/left-out.ts';

export interface WorkerView {
  readonly name: string;
  readonly provisioner: string;
  /** `<task id>/<attempt>/<part>`. Null if no lease of this clone names it. */
  readonly run: string | null;
  /**
   * `running`: a process follows it. `left`: its follower has exited. `unknown`: it has no lease.
   */
  readonly state: 'running' | 'left' | 'unknown';
  /** Unix seconds. */
  readonly created_at: number | null;
}

export interface RemoteList {
  readonly provisioner: string | null;
  readonly workers: readonly WorkerView[];
  readonly problems: readonly string[];
}

/** The key that identifies an ssh host. */
export interface HostKeyView {
  readonly host: string;
  readonly kind: string;
  /** `SHA256:…` */
  readonly fingerprint: string;
  /** A different key of the host is known, so this one cannot be accepted. */
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

/** The upload of one folder without its subfolders; '' is the project's root. */
export interface UploadFolderView {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

/** The files that an attempt would upload now, and those that it would omit. */
export interface RemotePreview {
  readonly provisioner: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly largest: readonly { readonly path: string; readonly bytes: number }[];
  /** Omitted because their names look like secrets. */
  readonly secrets: readonly string[];
  /** Sentences about other omitted files and the reasons. */
  readonly notices: readonly string[];
  /** The first folders by path. */
  readonly folders: readonly UploadFolderView[];
  /** The first omitted files by path, without those that git itself ignores. */
  readonly left_out: readonly LeftOut[];
  /** Number of folders and omitted paths that are not listed. */
  readonly folders_more: number;
  readonly left_out_more: number;
  /** Names of the variables that a worker gets besides the model's own. */
  readonly env: readonly string[];
  /** Why nothing would be uploaded. Null if the upload would succeed. */
  readonly refused: string | null;
}

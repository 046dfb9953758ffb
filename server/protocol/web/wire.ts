// The wire between the page of `drover web` and its server: text messages of JSON on one WebSocket.
// A page sends a ticket first, which shows whose it is. Then it asks by number, as the panels do;
// the server pushes how far each project's feed is.

import type { ListenAddress } from '../../core/settings/listen-address.ts';
import type { RequestName } from '../api.ts';

/** The rights of a device; each role includes those before it. */
export const webRoles = ['see', 'answer', 'decide'] as const;
export type WebRole = (typeof webRoles)[number];

export interface WebProject {
  /** Names the project in messages; holds nothing of its path. */
  readonly id: string;
  readonly name: string;
  readonly root: string;
}

/** A browser that was let in. Times are Unix seconds. */
export interface WebDevice {
  readonly id: string;
  readonly name: string;
  readonly role: WebRole;
  readonly added_at: number;
  readonly seen_at: number;
}

/** How the page is reached from outside of this machine. */
export type WebExposure =
  | { readonly kind: 'loopback' }
  /** PEM texts. */
  | { readonly kind: 'tls'; readonly certificate: string; readonly key: string }
  /** A proxy ends TLS; `origin` is its own, as `https://drover.example.com`. */
  | { readonly kind: 'proxy'; readonly origin: string };

export interface WebRequest {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly address: ListenAddress;
  readonly exposure: WebExposure;
}

export interface RunningWeb {
  /** Returns the address of the page with a token that lets one browser in, once. */
  newLink(): string;
  close(): Promise<void>;
}

/** `drover web`, for as long as the editor's process lives. */
export interface ServedPage {
  /** The address of the page with a token that lets one browser in. Rejects if it ended. */
  link(): Promise<string>;
  readonly isOver: boolean;
  end(): void;
}

export type WebConnection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly version: string }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Asked of the server itself. */
export interface OwnRequests {
  /** Connects to the project's backend, and starts it if none runs. */
  'web.open': { params: { project: string }; result: object };
  'web.devices': { params: object; result: readonly WebDevice[] };
  'web.rename': { params: { device: string; name: string }; result: object };
  'web.remove': { params: { device: string }; result: object };
  /** A link that lets one more browser in, once, within two minutes. */
  'web.pair': { params: { role: WebRole; name: string }; result: { url: string } };
}
export type OwnRequestName = keyof OwnRequests;

export interface WebAsk {
  readonly ask: number;
  /** Empty: the server itself. */
  readonly project: string;
  readonly name: RequestName | OwnRequestName;
  readonly params: object;
}

export type ToPage =
  | {
      readonly type: 'welcome';
      readonly device: WebDevice;
      readonly projects: readonly WebProject[];
    }
  /** All projects, after one was added or removed. */
  | { readonly type: 'projects'; readonly projects: readonly WebProject[] }
  | {
      readonly type: 'connection';
      readonly project: string;
      readonly connection: WebConnection;
    }
  /** The feed of the project has reached this number. */
  | { readonly type: 'feed'; readonly project: string; readonly seq: number }
  | { readonly type: 'answer'; readonly ask: number; readonly result: unknown }
  | {
      readonly type: 'refusal';
      readonly ask: number;
      readonly error: { readonly kind: string; readonly message: string };
    };

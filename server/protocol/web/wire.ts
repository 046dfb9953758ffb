// The protocol between the page of `drover web` and its server: JSON text messages on one
// WebSocket. A page first sends a ticket, which identifies its device. Then it sends numbered
// requests like the panels, and the server pushes each project's latest feed number.

import type { ListenAddress } from '../../core/settings/listen-address.ts';
import type { RequestName } from '../api.ts';

/** The rights of a device. Each role includes the previous ones. */
export const webRoles = ['see', 'answer', 'decide'] as const;
export type WebRole = (typeof webRoles)[number];

export interface WebProject {
  /** Identifies the project in messages without revealing its path. */
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
  /** A proxy terminates TLS. `origin` is the proxy's, for example `https://drover.example.com`. */
  | { readonly kind: 'proxy'; readonly origin: string };

export interface WebRequest {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly address: ListenAddress;
  readonly exposure: WebExposure;
}

export interface RunningWeb {
  /** Returns the page's URL with a token that lets one browser in, once. */
  newLink(): string;
  close(): Promise<void>;
}

/** `drover web`, for as long as the editor's process lives. */
export interface ServedPage {
  /** The page's URL with a token that lets one browser in. Rejects if the server has ended. */
  link(): Promise<string>;
  readonly isOver: boolean;
  end(): void;
}

export type WebConnection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly version: string }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Requests to the server itself. */
export interface OwnRequests {
  /** Connects to the project's backend, and starts it if none runs. */
  'web.open': { params: { project: string }; result: object };
  'web.devices': { params: object; result: readonly WebDevice[] };
  'web.rename': { params: { device: string; name: string }; result: object };
  'web.remove': { params: { device: string }; result: object };
  /** Returns a link that lets one more browser in, once, within two minutes. */
  'web.pair': { params: { role: WebRole; name: string }; result: { url: string } };
}
export type OwnRequestName = keyof OwnRequests;

export interface WebAsk {
  readonly ask: number;
  /** Empty = the server itself. */
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
  /** The project's feed has reached this number. */
  | { readonly type: 'feed'; readonly project: string; readonly seq: number }
  | { readonly type: 'answer'; readonly ask: number; readonly result: unknown }
  | {
      readonly type: 'refusal';
      readonly ask: number;
      readonly error: { readonly kind: string; readonly message: string };
    };

// Links that let one browser in. Each has a random token that works once, for a short time. Wrong
// tokens are counted per address. Pure except for the randomness.

import { randomBytes } from 'node:crypto';
import type { WebRole } from '../protocol/web/wire.ts';

export interface Invitation {
  readonly role: WebRole;
  /** The new device's name. If empty, it is named after its browser. */
  readonly name: string;
}

const wrongMax = 5;
const wrongWindowMs = 60_000;
const addressesMax = 1_000;

export class Invitations {
  readonly #nowMs: () => number;
  readonly #open = new Map<string, Invitation & { readonly endsAtMs: number }>();
  readonly #wrong = new Map<string, readonly number[]>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns its token. */
  add(invitation: Invitation, lifeMs: number): string {
    const token = randomBytes(24).toString('base64url');
    for (const [old, { endsAtMs }] of this.#open) {
      if (endsAtMs <= this.#nowMs()) this.#open.delete(old);
    }
    this.#open.set(token, { ...invitation, endsAtMs: this.#nowMs() + lifeMs });
    return token;
  }

  /** Uses up the invitation. `paused`: this address has tried too many wrong tokens. */
  accept(token: string, address: string): Invitation | 'wrong' | 'paused' {
    const now = this.#nowMs();
    const recent = (this.#wrong.get(address) ?? []).filter((at) => now - at < wrongWindowMs);
    if (recent.length >= wrongMax) return 'paused';
    const invitation = this.#open.get(token);
    this.#open.delete(token);
    if (invitation !== undefined && invitation.endsAtMs > now) return invitation;
    if (this.#wrong.size >= addressesMax) this.#wrong.clear();
    this.#wrong.set(address, [...recent, now]);
    return 'wrong';
  }
}

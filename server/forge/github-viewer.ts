// The user of the token.

import { isObject } from '../core/exchange/json-object.ts';
import type { ForgeClient } from './client.ts';
import { type Answer, facts, unreadable } from './port.ts';

export class GithubViewer {
  readonly #client: ForgeClient;
  #login: string | null = null;

  constructor(client: ForgeClient) {
    this.#client = client;
  }

  /** An App has a name only in GraphQL. */
  async login(): Promise<Answer<string>> {
    if (this.#login !== null) return facts(this.#login);
    const user = await this.#client.get('user');
    if (user.kind === 'limited') return user;
    const login =
      user.kind === 'facts'
        ? facts(user.value.body)
        : await this.#client.graphql('query { viewer { login } }', {});
    if (login.kind !== 'facts') return login;
    const { value } = login;
    const viewer = isObject(value) && isObject(value['viewer']) ? value['viewer'] : value;
    const name = isObject(viewer) ? viewer['login'] : null;
    if (typeof name !== 'string') return unreadable('GitHub does not say whose token this is.');
    this.#login = name;
    return facts(name);
  }
}

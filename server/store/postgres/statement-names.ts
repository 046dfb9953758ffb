// Which statements are worth being prepared: PostgreSQL reads and plans a named one once for each
// connection.

const namesMax = 256;
const charactersMax = 4_000;
const seenMax = 2_000;

export class StatementNames {
  /**
   * Null: seen once. A statement is named when it comes again, so that lists of many lengths use up
   * no names.
   */
  readonly #seen = new Map<string, string | null>();
  #names = 0;

  nameOf(text: string): string | null {
    if (text.length > charactersMax) return null;
    const known = this.#seen.get(text);
    if (known === undefined) {
      if (this.#seen.size >= seenMax) this.#forgetUnnamed();
      this.#seen.set(text, null);
      return null;
    }
    if (known !== null || this.#names >= namesMax) return known;
    this.#names += 1;
    const name = `drover_${this.#names}`;
    this.#seen.set(text, name);
    return name;
  }

  #forgetUnnamed(): void {
    for (const [text, name] of this.#seen) if (name === null) this.#seen.delete(text);
  }
}

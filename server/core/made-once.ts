// One thing made for each other thing, however often it is asked for.

export class MadeOnce<Key extends object, Value> {
  readonly #made = new WeakMap<Key, Value>();

  of(key: Key, make: () => Value): Value {
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#made.set(key, made);
    return made;
  }
}

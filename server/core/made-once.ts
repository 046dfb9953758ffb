// Creates one value per key and returns the same value at later calls.

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

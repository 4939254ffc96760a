/**
 * What is in flight, by number or by name, the oldest first.
 *
 * In place of a `Map` or a `Set` of objects that come and go with each request. V8 replaces the table of such a map again and again. A
 * table that was replaced points to the next one, and keeps the members that it had last. Once one table is in the old generation, each
 * that follows it is moved there too, with its members: a part of all requests, whose memory only a full collection frees. Here the map
 * holds numbers only, beside its keys.
 */
export class InFlight<Value, Key extends number | string = number> {
  readonly #places = new Map<Key, number>()
  readonly #values: Array<Value | undefined> = []
  readonly #free: Array<number> = []

  get size(): number {
    return this.#places.size
  }

  has(key: Key): boolean {
    return this.#places.has(key)
  }

  get(key: Key): Value | undefined {
    const place = this.#places.get(key)
    return place === undefined ? undefined : this.#values[place]
  }

  set(key: Key, value: Value): void {
    const place = this.#places.get(key) ?? this.#free.pop() ?? this.#values.length
    this.#values[place] = value
    this.#places.set(key, place)
  }

  /** Returns whether it was in flight. */
  delete(key: Key): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    this.#places.delete(key)
    this.#values[place] = undefined
    this.#free.push(place)
    return true
  }

  /** As of a `Map`: what is deleted before it is reached is left out. */
  *entries(): Generator<[Key, Value]> {
    for (const [key, place] of this.#places) yield [key, this.#values[place]!]
  }

  *values(): Generator<Value> {
    for (const place of this.#places.values()) yield this.#values[place]!
  }
}

/** As `InFlight`, of what has no number or name of its own. */
export class InFlightSet<Value> {
  readonly #members = new InFlight<Value>()
  #last = 0

  get size(): number {
    return this.#members.size
  }

  /** Returns a function that takes it out again. */
  add(value: Value): () => void {
    const number = ++this.#last
    this.#members.set(number, value)
    return () => void this.#members.delete(number)
  }

  /** As of a `Set`: what is taken out before it is reached is left out. */
  values(): Iterable<Value> {
    return this.#members.values()
  }
}

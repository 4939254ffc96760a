/** An `init` whose fields are computed, each once, for the tap and for `fetch`. */
import { isRequest } from "../platform/Web.ts"

type Init = Parameters<typeof fetch>[1]

/** The fields that a tap asks for. */
const names = ["method", "body", "headers", "signal"]

const isComputed = (init: object, name: string): boolean => {
  let at: object | null = init
  while (at !== null && !Object.hasOwn(at, name)) at = Object.getPrototypeOf(at) as object | null
  return at !== null && Object.getOwnPropertyDescriptor(at, name)!.get !== undefined
}

/** The same, whose fields are asked for once, and are those of `known` where it has them. */
export const over = <Of extends object>(init: Of, known = new Map<PropertyKey, () => unknown>()): Of => {
  const target = Object.create(Object.getPrototypeOf(init) as object) as Of
  for (const name of Reflect.ownKeys(init)) {
    // What cannot be configured, such as a field of a frozen object, no proxy may answer otherwise.
    Object.defineProperty(target, name, { ...Object.getOwnPropertyDescriptor(init, name), configurable: true })
  }
  return new Proxy(target, {
    // Getters are called on the object itself, which may have private fields.
    get: (_target, name) => {
      if (!known.has(name)) {
        try {
          const value: unknown = Reflect.get(init, name)
          known.set(name, () => value)
        } catch (error) {
          known.set(name, () => {
            throw error
          })
        }
      }
      return known.get(name)!()
    }
  })
}

/** The `init` itself where nothing can tell that it is read twice, as in a `Request`. */
export const make = (init: Init): Init => {
  if (typeof init !== "object" || init === null || isRequest(init)) return init
  return names.some((name) => isComputed(init, name)) ? over(init) : init
}

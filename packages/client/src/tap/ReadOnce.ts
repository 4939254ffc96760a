/** An `init` whose fields are computed, each once, for the tap and for `fetch`. */

type Init = Parameters<typeof fetch>[1]

/** The fields that a tap asks for. */
const names = ["method", "body", "headers", "signal"]

const isComputed = (init: object, name: string): boolean => {
  let at: object | null = init
  while (at !== null && !Object.hasOwn(at, name)) at = Object.getPrototypeOf(at) as object | null
  return at !== null && Object.getOwnPropertyDescriptor(at, name)!.get !== undefined
}

/** The same, whose fields are asked for once, and are those of `known` where it has them. */
export const over = <Of extends object>(init: Of, known = new Map<PropertyKey, () => unknown>()): Of =>
  new Proxy(init, {
    // Getters are called on the object itself, which may have private fields.
    get: (target, name) => {
      if (!known.has(name)) {
        try {
          const value: unknown = Reflect.get(target, name)
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

/** The `init` itself where nothing can tell that it is read twice. */
export const make = (init: Init): Init =>
  typeof init === "object" && init !== null && names.some((name) => isComputed(init, name)) ? over(init) : init

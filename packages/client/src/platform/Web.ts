/**
 * Requests and responses, told by what they say they are. `instanceof` asks for the classes that are global now, and a library may
 * put its own there after an object was made: Hono's server for Node does, and what `fetch` answers is then no `Response`.
 */
const tagOf = (value: unknown): string => Object.prototype.toString.call(value)

export const isRequest = (value: unknown): value is Request => tagOf(value) === "[object Request]"

export const isResponse = (value: unknown): value is Response => tagOf(value) === "[object Response]"

export const isReadableStream = (value: unknown): value is ReadableStream => tagOf(value) === "[object ReadableStream]"

/** Whether a class answers for status and body by itself, as one does that a library has put in the platform's place. */
const standsIn = (prototype: object): boolean =>
  ["status", "body"].every((name) => Object.getOwnPropertyDescriptor(prototype, name)?.get !== undefined)

/** The platform's own class of a response, or one in its place, whatever class inherits from it. */
export const responseClassOf = (response: Response): typeof Response => {
  let prototype: object = Object.getPrototypeOf(response)
  while (!Object.hasOwn(prototype, Symbol.toStringTag) && !standsIn(prototype)) {
    prototype = Object.getPrototypeOf(prototype)
  }
  return prototype.constructor as typeof Response
}

/** The formats by the name that an event carries. */
import type { Api, Format } from "./Format.ts"

export const formats = {} satisfies Partial<Record<Api, Format<never>>>

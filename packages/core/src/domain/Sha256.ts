/** The name of a shared text: the SHA-256 of its JSON text, in lower-case hexadecimal. */
import * as Schema from "effect/Schema"
import * as Hex from "./Hex.ts"

export const Sha256 = Hex.ofDigits(64).pipe(Schema.brand("Sha256"))
export type Sha256 = typeof Sha256.Type

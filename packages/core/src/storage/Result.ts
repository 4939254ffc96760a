/** What an operation of a storage returns. */
import type * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"

export type Result<A, E = never> = Effect.Effect<A, E | StorageUnavailable>

import * as Schema from "effect/Schema"
import { NameOrEmpty } from "./Name.ts"

/** The type allows an empty id, because the interface reports it as `session-id-empty`, not as a validation error. */
export const SessionId = NameOrEmpty.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

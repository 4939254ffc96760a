import { Schema } from "effect"
import { NameOrEmpty } from "./Name.ts"

/** May be empty as a type: the interface answers an empty session with `session-id-empty`, not as a validation error. */
export const SessionId = NameOrEmpty.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

import * as Schema from "effect/Schema"
import { JsonText } from "./JsonText.ts"
import { Name } from "./Name.ts"

export const PersonId = Name.pipe(Schema.brand("PersonId"))
export type PersonId = typeof PersonId.Type

export class Person extends Schema.Class<Person>("Person")({
  id: PersonId,
  /** The text of a JSON object, verbatim. */
  properties: JsonText,
  createdAt: Schema.DateTimeUtcFromString,
  /** Whether only events have named the person so far: the first PUT gives them their properties. Absent if not. */
  isNamedOnly: Schema.optionalKey(Schema.Boolean)
}) {}

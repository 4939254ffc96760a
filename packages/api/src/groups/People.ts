import { PersonId } from "@tachograph/core/domain/Person"
import { ErasureReceipt } from "@tachograph/core/domain/ErasureReceipt"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Cursor from "../Cursor.ts"
import { PersonNotFound, bodyErrors } from "../Errors.ts"
import { JsonObject, optional } from "../Json.ts"
import * as Page from "../Page.ts"
import * as Sorted from "../Sorted.ts"
import { UsageGroupOnWire } from "./Usage.ts"

/** The response is built as text: `properties` is the text that was sent. */
export const PersonOnWire = Schema.Struct({
  person_id: Schema.String,
  properties: JsonObject,
  created_at: Schema.String
}).annotate({ identifier: "Person" })

export const CreatePerson = Schema.Struct({ person_id: PersonId, properties: optional(JsonObject) })

export const Erased = ErasureReceipt

export const UpdatePerson = Schema.Struct({ properties: JsonObject })

export const cursor = Cursor.ofNumber

/** The response is built as text, like a person's. */
const PersonWithUsage = Schema.Struct({
  ...PersonOnWire.fields,
  /** What the person's calls add up to; null if there are none. */
  usage: Schema.NullOr(UsageGroupOnWire)
}).annotate({ identifier: "PersonWithUsage" })

export const PersonPageOnWire = Page.of("PersonPage", "people", PersonWithUsage, cursor)

export class People extends HttpApiGroup.make("people").add(
  HttpApiEndpoint.put("createPerson", "/people", {
    payload: CreatePerson,
    success: PersonOnWire,
    error: bodyErrors
  }).annotate(OpenApi.Summary, "Create a person"),
  HttpApiEndpoint.get("listPeople", "/people", {
    query: Schema.Struct({ ...Page.query(cursor), ...Sorted.query }).check(Sorted.orderHasSort),
    success: PersonPageOnWire
  }).annotate(
    OpenApi.Summary,
    "List people in the order of their creation, or those who have calls sorted by what these add up to"
  ),
  HttpApiEndpoint.put("updatePerson", "/people/:person_id", {
    params: { person_id: PersonId },
    payload: UpdatePerson,
    success: PersonOnWire,
    error: [PersonNotFound, ...bodyErrors]
  }).annotate(OpenApi.Summary, "Replace a person's properties"),
  HttpApiEndpoint.get("getPerson", "/people/:person_id", {
    params: { person_id: PersonId },
    success: PersonOnWire,
    error: PersonNotFound
  }).annotate(OpenApi.Summary, "Read a person"),
  HttpApiEndpoint.delete("erasePerson", "/people/:person_id", {
    params: { person_id: PersonId },
    success: ErasureReceipt,
    error: PersonNotFound
  }).annotate(OpenApi.Summary, "Erase a person, their events, and content that only those events hold")
) {}

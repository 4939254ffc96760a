import { People, TachographApi } from "@tachograph/api"
import { JsonText, type Person, Recorder, Scan } from "@tachograph/core"
import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as JsonResponse from "../response/JsonResponse.ts"
import * as RequestBody from "../front/RequestBody.ts"

const createPersonBody = RequestBody.decode(People.CreatePerson)
const updatePersonBody = RequestBody.decode(People.UpdatePerson)

/** The properties as they stand in the body's text; `{}` where there are none. */
const propertiesIn = (text: string): JsonText.JsonText => {
  const bytes = Buffer.from(text)
  const span = Scan.locate(bytes, ["properties"])
  const properties = span === undefined ? "null" : bytes.toString("utf8", span.start, span.end)
  return JsonText.unsafe(properties === "null" ? "{}" : properties)
}

const toResponse = ({ createdAt, id, properties }: Person) =>
  JsonResponse.make(
    JsonText.object({
      person_id: JsonText.of(id),
      properties,
      created_at: JsonText.of(DateTime.formatIso(createdAt))
    })
  )

export const layer = HttpApiBuilder.group(
  TachographApi,
  "people",
  Effect.fn(function* (handlers) {
    const recorder = yield* Recorder
    return handlers
      .handleRaw(
        "createPerson",
        Effect.fn("createPerson")(function* ({ request }) {
          const { text, value } = yield* createPersonBody(request)
          return toResponse(yield* recorder.createPerson(value.person_id, propertiesIn(text)))
        })
      )
      .handleRaw(
        "updatePerson",
        Effect.fn("updatePerson")(function* ({ params, request }) {
          const { text } = yield* updatePersonBody(request)
          return toResponse(yield* recorder.updatePerson(params.person_id, propertiesIn(text)))
        })
      )
      .handle("erasePerson", ({ params }) => recorder.erasePerson(params.person_id))
      .handle("getPerson", ({ params }) => Effect.map(recorder.getPerson(params.person_id), toResponse))
  })
)

import { People, Usage } from "@tachograph/api"
import { JsonText, type ListPage, type Person, type PersonUsage, Recorder, Scan } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Operation from "./Operation.ts"
import { Otlp } from "../otlp/Otlp.ts"
import * as PageQuery from "./PageQuery.ts"
import * as Answer from "../response/Answer.ts"

/** The text of the properties in the body's text; `{}` if there are none. */
const propertiesIn = (text: string): JsonText.JsonText => {
  const bytes = Buffer.from(text)
  const span = Scan.locate(bytes, ["properties"])
  const properties = span === undefined ? "null" : bytes.toString("utf8", span.start, span.end)
  return JsonText.unsafe(properties === "null" ? "{}" : properties)
}

/** The properties are spliced in verbatim. */
const fieldsOf = ({ createdAt, id, properties }: Person) =>
  ({
    person_id: JsonText.of(id),
    properties,
    created_at: JsonText.of(DateTime.formatIso(createdAt))
  }) satisfies Record<keyof typeof People.PersonOnWire.Type, JsonText.JsonText>

const toText = (person: Person) => JsonText.object(fieldsOf(person))

const toAnswer = (person: Person) => new Operation.Encoded(Answer.json(toText(person)))

const encodeUsage = Schema.encodeSync(Schema.toCodecJson(Schema.NullOr(Usage.UsageGroupOnWire)))

const withUsage = ({ person, usage }: PersonUsage) =>
  JsonText.object({
    ...fieldsOf(person),
    usage: JsonText.unsafe(JSON.stringify(encodeUsage(usage ?? null)))
  } satisfies Record<keyof (typeof People.PersonPageOnWire.Type)["people"][number], JsonText.JsonText>)

const toPage = ({ next, rows }: ListPage<PersonUsage, number>) =>
  new Operation.Encoded(
    Answer.json(
      JsonText.object({
        people: JsonText.unsafe(`[${rows.map(withUsage).join(",")}]`),
        next_cursor: JsonText.of(People.cursor.encode(next))
      } satisfies Record<keyof typeof People.PersonPageOnWire.Type, JsonText.JsonText>)
    )
  )

export const operations = Effect.map(Effect.all([Recorder, Otlp]), ([recorder, otlp]) =>
  Operation.group("people", {
    createPerson: ({ payload, text }) =>
      Effect.map(recorder.createPerson(payload.person_id, propertiesIn(text)), toAnswer),
    listPeople: ({ query }) =>
      Effect.map(
        recorder.listPeopleWithUsage({
          ...{ sort: query.sort, order: query.order },
          ...PageQuery.of(query, People.cursor)
        }),
        toPage
      ),
    updatePerson: ({ params, text }) =>
      Effect.map(recorder.updatePerson(params.person_id, propertiesIn(text)), toAnswer),
    getPerson: ({ params }) => Effect.map(recorder.getPerson(params.person_id), toAnswer),
    erasePerson: ({ exchange, params }) =>
      Effect.andThen(
        otlp.finishAll(exchange.project, { person: params.person_id }),
        recorder.erasePerson(params.person_id)
      )
  })
)

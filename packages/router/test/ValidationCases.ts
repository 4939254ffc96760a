/** Bad requests of the project's own, with the details that FastAPI on pydantic v2 writes for them. */
export interface ValidationCase {
  readonly name: string
  readonly method?: string
  readonly path: string
  readonly contentType?: string
  readonly body?: string
  /** `type`, then `loc` with dots between; of each error, in order. */
  readonly errors: ReadonlyArray<string>
  /** The first error whole, where its words matter. */
  readonly first?: object
}

const events = "/api/v1/events"
const id = "11111111-1111-4111-8111-111111111111"
const event = (fields: string) =>
  `{"event_name":"llm","properties":{"api":"aisdk","inputs":{},"output":{}},"fingerprint_id":"${id}","session":"s",${fields}}`

export const cases: ReadonlyArray<ValidationCase> = [
  {
    name: "a field that is missing is reported with what it is missing from",
    path: "/api/v1/agents",
    body: `{"description":"d"}`,
    errors: ["missing body.agent_name"],
    first: { type: "missing", loc: ["body", "agent_name"], msg: "Field required", input: { description: "d" } }
  },
  {
    name: "an empty object misses everything, in the order of the fields",
    path: "/api/v1/fingerprints",
    body: "{}",
    errors: ["missing body.language", "missing body.language_version", "missing body.system"]
  },
  {
    name: "a body of null is a body that is missing",
    path: "/api/v1/agents",
    body: "null",
    errors: ["missing body"],
    first: { type: "missing", loc: ["body"], msg: "Field required", input: null }
  },
  { name: "so is no body at all", path: "/api/v1/agents", body: "", errors: ["missing body"] },
  {
    name: "an array is no model",
    path: "/api/v1/agents",
    body: `[1.0, 9007199254740993]`,
    errors: ["model_attributes_type body"]
  },
  {
    name: "a string is no model, whatever it says",
    path: "/api/v1/people",
    body: `"{}"`,
    errors: ["model_attributes_type body"],
    first: {
      type: "model_attributes_type",
      loc: ["body"],
      msg: "Input should be a valid dictionary or object to extract fields from",
      input: "{}"
    }
  },
  {
    name: "a body of another type is taken for a string",
    path: "/api/v1/agents",
    contentType: "text/plain",
    body: `{"agent_name":"x"}`,
    errors: ["model_attributes_type body"],
    first: {
      type: "model_attributes_type",
      loc: ["body"],
      msg: "Input should be a valid dictionary or object to extract fields from",
      input: `{"agent_name":"x"}`
    }
  },
  {
    name: "JSON may call itself by any name that ends in +json, in any case, with parameters",
    path: "/api/v1/agents",
    contentType: "Application/Vnd.Api+JSON; charset=utf-8",
    body: `{}`,
    errors: ["missing body.agent_name"]
  },
  {
    name: "a literal",
    path: events,
    method: "POST",
    body: event(`"event_name":"LLM"`),
    errors: ["literal_error body.event_name"],
    first: {
      type: "literal_error",
      loc: ["body", "event_name"],
      msg: "Input should be 'llm'",
      input: "LLM",
      ctx: { expected: "'llm'" }
    }
  },
  {
    name: "names that are too short and too long",
    path: events,
    method: "POST",
    body: event(`"agent":"","agent_version":"${"x".repeat(256)}"`),
    errors: ["string_too_short body.agent", "string_too_long body.agent_version"],
    first: {
      type: "string_too_short",
      loc: ["body", "agent"],
      msg: "String should have at least 1 character",
      input: "",
      ctx: { min_length: 1 }
    }
  },
  {
    name: "a name with what no database holds",
    path: events,
    method: "POST",
    body: event(String.raw`"person":"\u0000","session":"\ud800"`),
    errors: ["value_error body.person", "value_error body.session"],
    first: {
      type: "value_error",
      loc: ["body", "person"],
      msg: "Value error, names cannot hold the character U+0000",
      input: "\u0000",
      ctx: { error: {} }
    }
  },
  {
    name: "a map's values, by their keys",
    path: "/api/v1/fingerprints",
    body: `{"language":"l","language_version":"v","system":"s","all_packages":{"a":1,"b":"2","__proto__":null,"constructor":[]}}`,
    errors: [
      "string_type body.all_packages.a",
      "string_type body.all_packages.__proto__",
      "string_type body.all_packages.constructor"
    ]
  },
  {
    name: "keys of every prototype are fields like others that are not known",
    path: "/api/v1/agents",
    body: `{"__proto__":{"agent_name":"x"},"constructor":{"agent_name":"x"},"agent_name":7}`,
    errors: ["string_type body.agent_name"]
  },
  {
    name: "path, query and body in one answer, in this order",
    path: "/api/v1/agents/%00/agent-versions",
    body: `{"agent_version_name":null}`,
    errors: ["value_error path.agent_name", "string_type body.agent_version_name"]
  },
  {
    name: "queries",
    path: `${events}?limit=1001&order=up&cursor=x&agent=&session=${"x".repeat(256)}`,
    method: "GET",
    errors: [
      "string_too_long query.session",
      "string_too_short query.agent",
      "less_than_equal query.limit",
      "value_error query.cursor",
      "enum query.order"
    ]
  },
  {
    name: "an integer that is none",
    path: `${events}?limit=ten`,
    method: "GET",
    errors: ["int_parsing query.limit"],
    first: {
      type: "int_parsing",
      loc: ["query", "limit"],
      msg: "Input should be a valid integer, unable to parse string as an integer",
      input: "ten"
    }
  },
  { name: "an id that is none", path: `${events}/1`, method: "GET", errors: ["uuid_parsing path.event_id"] },
  { name: "text that is no JSON", path: "/api/v1/agents", body: `{"agent_name":'x'}`, errors: ["json_invalid body"] },
  { name: "JSON with something behind it", path: "/api/v1/agents", body: `{} {}`, errors: ["json_invalid body"] },
  { name: "JSON that breaks off", path: "/api/v1/agents", body: `{"agent_name":"x`, errors: ["json_invalid body"] },
  { name: "NaN", path: "/api/v1/people/p1", body: `{"properties":NaN}`, errors: ["json_invalid body"] },
  {
    name: "brackets without end",
    path: "/api/v1/agents",
    body: "[".repeat(100_000),
    errors: ["json_invalid body"]
  }
]

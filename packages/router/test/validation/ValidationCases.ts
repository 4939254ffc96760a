/** Invalid requests, with the details that FastAPI on pydantic v2 reports for them. */
export interface ValidationCase {
  readonly name: string
  readonly method?: string
  readonly path: string
  readonly contentType?: string
  readonly body?: string
  /** The errors in order, each as its `type` and its `loc` joined by dots. */
  readonly errors: ReadonlyArray<string>
  /** The whole first error. */
  readonly first?: object
}

const events = "/api/v1/events"
const id = "11111111-1111-4111-8111-111111111111"
const event = (fields: string) =>
  `{"event_name":"llm","properties":{"api":"aisdk","inputs":{},"output":{}},"fingerprint_id":"${id}","session":"s",${fields}}`

export const cases: ReadonlyArray<ValidationCase> = [
  {
    name: "a missing field is reported with the object that lacks it",
    path: "/api/v1/agents",
    body: `{"description":"d"}`,
    errors: ["missing body.agent_name"],
    first: { type: "missing", loc: ["body", "agent_name"], msg: "Field required", input: { description: "d" } }
  },
  {
    name: "an empty object lacks every field, reported in the schema's order",
    path: "/api/v1/fingerprints",
    body: "{}",
    errors: ["missing body.language", "missing body.language_version", "missing body.system"]
  },
  {
    name: "`null` is a missing body",
    path: "/api/v1/agents",
    body: "null",
    errors: ["missing body"],
    first: { type: "missing", loc: ["body"], msg: "Field required", input: null }
  },
  { name: "an empty body is a missing body", path: "/api/v1/agents", body: "", errors: ["missing body"] },
  {
    name: "an array is not an object",
    path: "/api/v1/agents",
    body: `[1.0, 9007199254740993]`,
    errors: ["model_attributes_type body"]
  },
  {
    name: "a string that contains JSON is not an object",
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
    name: "a body with another content type is a string",
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
    name: "a content type that ends in +json is JSON, in any case and with parameters",
    path: "/api/v1/agents",
    contentType: "Application/Vnd.Api+JSON; charset=utf-8",
    body: `{}`,
    errors: ["missing body.agent_name"]
  },
  {
    name: "another value than the literal",
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
    name: "names with U+0000 and a lone surrogate",
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
    name: "values of a map, located by their keys",
    path: "/api/v1/fingerprints",
    body: `{"language":"l","language_version":"v","system":"s","all_packages":{"a":1,"b":"2","__proto__":null,"constructor":[]}}`,
    errors: [
      "string_type body.all_packages.a",
      "string_type body.all_packages.__proto__",
      "string_type body.all_packages.constructor"
    ]
  },
  {
    name: "names of prototype properties are unknown fields",
    path: "/api/v1/agents",
    body: `{"__proto__":{"agent_name":"x"},"constructor":{"agent_name":"x"},"agent_name":7}`,
    errors: ["string_type body.agent_name"]
  },
  {
    name: "path and body in one answer, in this order",
    path: "/api/v1/agents/%00/agent-versions",
    body: `{"agent_version_name":null}`,
    errors: ["value_error path.agent_name", "string_type body.agent_version_name"]
  },
  {
    name: "query parameters",
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
    name: "a query parameter that is not an integer",
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
  { name: "an id that is not a UUID", path: `${events}/1`, method: "GET", errors: ["uuid_parsing path.event_id"] },
  { name: "text that is not JSON", path: "/api/v1/agents", body: `{"agent_name":'x'}`, errors: ["json_invalid body"] },
  { name: "text after the JSON value", path: "/api/v1/agents", body: `{} {}`, errors: ["json_invalid body"] },
  { name: "truncated JSON", path: "/api/v1/agents", body: `{"agent_name":"x`, errors: ["json_invalid body"] },
  { name: "NaN", path: "/api/v1/people/p1", body: `{"properties":NaN}`, errors: ["json_invalid body"] },
  {
    name: "unclosed brackets",
    path: "/api/v1/agents",
    body: "[".repeat(100_000),
    errors: ["json_invalid body"]
  }
]

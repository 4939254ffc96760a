/** Where a tool call begins in the deltas of chat completions. */
import { expect, it } from "vitest"
import { make } from "../../src/openai/ChatCompletionsCalls.ts"

/** What the calls are named and called with. */
const callsOf = (...deltas: ReadonlyArray<object>) => {
  const calls = make()
  for (const delta of deltas) calls.take(JSON.parse(JSON.stringify(delta)))
  return calls.value(false).map((call) => {
    const { id = null, function: made } = call as unknown as {
      readonly id?: string
      readonly function: { readonly name?: string; readonly arguments?: unknown }
    }
    return [id === "" ? null : id, made.name, made.arguments]
  })
}

const at = (index: number | undefined, id: string | undefined, name: string | null, given: unknown) => ({
  index,
  id,
  function: { ...(name === null ? {} : { name }), arguments: given }
})

it.each<[string, ReadonlyArray<object>, ReadonlyArray<ReadonlyArray<unknown>>]>([
  [
    "where one has a name again and the last is complete",
    [at(0, "", "look", '{"a":"}"}'), at(0, "", "look", '{"a":'), at(0, "", null, "2}"), at(0, undefined, "go", "{}")],
    [
      [null, "look", '{"a":"}"}'],
      [null, "look", '{"a":2}'],
      [null, "go", "{}"]
    ]
  ],
  [
    "where one has another name",
    [at(0, undefined, "look", ""), at(0, undefined, "go", ""), at(0, undefined, null, "{}")],
    [
      [null, "look", ""],
      [null, "go", "{}"]
    ]
  ],
  [
    "where one has another id",
    [at(0, "a", "look", ""), at(0, "b", "look", ""), at(0, undefined, null, "{}")],
    [
      ["a", "look", ""],
      ["b", "look", "{}"]
    ]
  ],
  [
    "where an id is told again beside the index of another",
    [at(0, "a", "look", '{"a"'), at(0, "b", "go", '{"b"'), at(0, "a", null, ":1}"), at(0, "b", null, ":2}")],
    [
      ["a", "look", '{"a":1}'],
      ["b", "go", '{"b":2}']
    ]
  ],
  [
    "where all have one id, too",
    [at(0, "call_0", "look", "{}"), at(0, "call_0", "go", "{}")],
    [
      ["call_0", "look", "{}"],
      ["call_0", "go", "{}"]
    ]
  ],
  [
    "where arguments begin anew that nobody names",
    [
      at(0, undefined, "look", '{"a":1}'),
      at(0, undefined, null, '{"a"'),
      at(0, undefined, null, ":2}"),
      at(0, undefined, null, " ")
    ],
    [
      [null, "look", '{"a":1}'],
      [null, undefined, '{"a":2} ']
    ]
  ],
  [
    "with neither index nor id",
    [
      at(undefined, undefined, "look", '{"a":'),
      at(undefined, undefined, "look", "1}"),
      at(undefined, undefined, "look", "{}"),
      at(undefined, undefined, "look", "")
    ],
    [
      [null, "look", '{"a":1}'],
      [null, "look", "{}"]
    ]
  ],
  [
    "whose arguments are no text",
    [at(0, undefined, "look", { a: 1 }), at(0, undefined, "look", { a: 2 })],
    [
      [null, "look", { a: 1 }],
      [null, "look", { a: 2 }]
    ]
  ],
  [
    "not where a name is told again, as long as the arguments are not complete",
    [
      at(0, undefined, "look", ""),
      at(0, undefined, "look", '{"a":[1,'),
      at(0, undefined, "look", "2]"),
      at(0, undefined, "look", "}")
    ],
    [[null, "look", '{"a":[1,2]}']]
  ],
  [
    "not where a name is told again at the end, without arguments",
    [at(0, "a", "look", "{}"), at(0, "a", "look", ""), at(0, undefined, "look", "")],
    [["a", "look", "{}"]]
  ],
  [
    "not behind an empty object, with which some gateways begin each call",
    [at(0, "a", "look", "{}"), at(0, undefined, null, '{"a"'), at(0, undefined, null, ":1}")],
    [["a", "look", '{"a":1}']]
  ],
  [
    "not behind an empty object, where its id or its name come again",
    [at(0, "a", "look", "{}"), at(0, "a", "look", '{"a":1}')],
    [["a", "look", '{"a":1}']]
  ],
  [
    "not where only the id changes, as of a gateway that makes one for each delta",
    [at(0, "a", "look", '{"a"'), at(0, "b", null, ":1}")],
    [["a", "look", '{"a":1}']]
  ]
])("a call begins %s", (_, deltas, calls) => {
  expect(callsOf(...deltas)).toEqual(calls)
})

/** A night at a harbour: tools, thinking, a cache that failed, and a history that became too long. */
import { Conversation, results, text, thinking, tool, user } from "./Conversation.ts"
import type { Recording } from "./Recording.ts"

const boats = ["Petrel", "Curlew", "Dunlin", "Tern", "Plover", "Gannet", "Skua", "Fulmar", "Avocet", "Knot"]

/** The log of a day: a line for each quarter of an hour. */
const log = (day: string): string =>
  Array.from({ length: 96 }, (_, index) => {
    const time = `${String(Math.floor(index / 4)).padStart(2, "0")}:${String((index % 4) * 15).padStart(2, "0")}`
    const boat = index % 7 === 2 ? `  ${boats[index % boats.length]} in, berth ${1 + (index % 9)}` : ""
    return `${day} ${time}  wind SW ${2 + (index % 4)}  ${(2.1 + Math.sin(index / 8) * 1.4).toFixed(1)} m${boat}`
  }).join("\n")

const tools = [
  ["read_log", "The log of the harbour for a day.", { day: { type: "string", format: "date" } }],
  ["tide_table", "High and low water of a day.", { day: { type: "string" }, port: { type: "string" } }],
  ["list_berths", "Berths, with who is promised which.", { from: { type: "string" }, to: { type: "string" } }],
  ["write_report", "Files the report of a night.", { markdown: { type: "string" } }]
] as const

export const system = `You are the night watch of a small harbour. You answer skippers and the harbour master.

- Read the log before you say what happened, and name the time in UTC.
- Never move a boat without asking.
- Where two sources differ, say so and name both.`

export const toolsOfHarbour = tools.map(([name, description, properties]) => ({
  name,
  description,
  input_schema: { type: "object", properties, required: Object.keys(properties) }
}))

export const record = (recording: Recording, fingerprint: string, start: Date): void => {
  const fields = { session: "night-watch-0614", agent: "harbour-watch", version: "2.4.0", person: "harbour-master" }
  new Conversation(recording, { ...fields, fingerprint }, start, {
    model: "claude-sonnet-4-5",
    system,
    tools: toolsOfHarbour
  })
    .call(
      4_210,
      [
        user(
          "Write the night report for **14 June**. Compare the tides with what the log says, and tell me which berths I promised twice."
        )
      ],
      [
        thinking("I need the log of the day and the tide table before I can compare anything."),
        text("I read the log and the tide table of the day."),
        tool("t1", "read_log", { day: "2026-06-14" }),
        tool("t2", "tide_table", { day: "2026-06-14", port: "Inner harbour" })
      ]
    )
    .call(
      3_480,
      [
        results(
          ["t1", log("06-14")],
          ["t2", "high 05:42  3.5 m\nlow  11:58  0.7 m\nhigh 18:07  3.4 m\nlow  23:49  0.8 m"]
        )
      ],
      [
        text("The log has high water at **05:45 UTC**, the table at 05:42. I look for the berths."),
        tool("t3", "list_berths", { from: "2026-06-14", to: "2026-06-15" })
      ]
    )
    .call(
      5_120,
      [
        results([
          "t3",
          '{"berth":4,"boat":"Petrel","from":"04:00"}\n{"berth":4,"boat":"Curlew","from":"19:15"}\n{"berth":7,"boat":"Tern","from":"21:30"}'
        ])
      ],
      [
        thinking("Two boats were promised berth 4: Petrel at 04:00 and Curlew at 19:15. Berth 6 is empty all night."),
        text(
          "Berth 4 was promised twice:\n\n| boat | promised at | nights |\n| --- | --- | --- |\n| Petrel | 04:00 UTC | 3 |\n| Curlew | 19:15 UTC | 1 |\n\nBerth 6 is free. Shall I move the *Curlew*?"
        )
      ]
    )
    .wait(45)
    .call(
      2_900,
      [user("Yes, move her, and note it in the report.")],
      [text("Noted: *Curlew* to berth 6 for one night, with your consent.")]
    )
    .call(
      2_350,
      [user("When did the fog come in?")],
      [text("The fog bank stood at the mole from 04:45 UTC, and was gone at 07:00 UTC.")]
    )
    .call(
      3_010,
      [user("Who left without paying?")],
      [text("The *Dunlin*, according to the log: out at 06:30 UTC, nothing paid for two nights.")]
    )
    .wait(40 * 60)
    .call(
      5_640,
      [user("What is low water tomorrow?")],
      [text("I look again."), tool("t4", "tide_table", { day: "2026-06-15", port: "Inner harbour" })]
    )
    .call(
      2_280,
      [results(["t4", "low  00:31  0.8 m\nhigh 06:29  3.6 m\nlow  12:44  0.6 m\nhigh 18:52  3.5 m"])],
      [text("00:31 UTC with 0.8 m, and again at **12:44 UTC** with 0.6 m: the lowest of the week.")]
    )
    .fail(31_000, "overloaded_error", "Overloaded")
    .call(
      3_300,
      [user("Then the *Tern* cannot leave at noon, can she?")],
      [
        thinking(
          "Tern draws 1.4 m. Berth 7 has 0.9 m more than the gauge. 0.6 + 0.9 = 1.5 m: ten centimetres under the keel."
        ),
        text(
          "She can, with ten centimetres under her keel. I would tell her to go before 11:30 UTC, or after 14:00 UTC."
        )
      ]
    )
    .compact(
      user(
        "Summary of the night so far: report for 14 June; berth 4 was promised to *Petrel* and *Curlew*, *Curlew* moved to berth 6; fog 04:45 to 07:00 UTC; *Dunlin* left without paying; low water on the 15th at 12:44 UTC with 0.6 m."
      )
    )
    .call(
      4_800,
      [user("Good. File the report.")],
      [
        text("Filed, with the tides, the two promises and the unpaid nights."),
        tool("t5", "write_report", { markdown: "# Night of 14 June\n\n- Berth 4 was promised twice…" })
      ]
    )
    .call(
      1_900,
      [results(["t5", "Report 2026-06-14 is filed."])],
      [text("The report of the night is filed. Good watch.")]
    )
}

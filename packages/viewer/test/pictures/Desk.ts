/** Weeks of short conversations, in two versions of one agent and with other models, so that lists and charts have something to show. */
import { Conversation, results, text, tool, user } from "./Conversation.ts"
import * as Harbour from "./Harbour.ts"
import type { Recording } from "./Recording.ts"

const questions = [
  [
    "Is there a berth for a boat of 14 metres on Friday?",
    "Yes: berth 2 is free from Friday noon. It takes up to 16 metres."
  ],
  ["My shore power is dead, pier B", "The breaker of pier B tripped at 21:10 UTC. The harbour master has been told."],
  ["What does a week cost for a 9 m boat?", "Seven nights are 154 euros, with water and power."],
  ["Can I leave over the bar at six?", "High water is at 06:29 UTC, so there are 3.5 metres at six. Yes."],
  [
    "Somebody is tied up in my berth",
    "That is the *Plover*, which was promised berth 5 by mistake. She moves within the hour."
  ],
  ["When does the fuel dock open tomorrow?", "At 07:00 UTC, until 18:30. It takes cards only."],
  ["I would like to stay two more nights", "Berth 8 stays yours until Sunday noon. The bill is 44 euros more."],
  [
    "Forecast for the crossing, please",
    "South-west 4, later 5, with a sea of one metre. From Thursday on it will be calmer."
  ],
  ["Where can I leave used oil?", "In the yellow tank beside the crane. It is emptied on Tuesdays."],
  ["Is the crane free at ten?", "It is free from 10:00 to 11:30 UTC. Shall I reserve it for you?"]
] as const

const models = ["claude-sonnet-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"] as const

export const record = (recording: Recording, fingerprints: readonly [string, string], now: Date): void => {
  for (let number = 0; number < 240; number++) {
    const [question, answer] = questions[(number * 7) % questions.length]!
    const isNew = number < 100
    const hours = number * 2.9 + (number % 5) * 1.7 + 0.4
    const start = new Date(now.getTime() - hours * 3_600_000)
    const conversation = new Conversation(
      recording,
      {
        session: `berth-${2348 - number}`,
        agent: "harbour-desk",
        version: isNew ? "1.5.0" : "1.4.2",
        person: `skipper-${String(1 + ((number * 11) % 23)).padStart(2, "0")}`,
        fingerprint: fingerprints[isNew ? 1 : 0]
      },
      start,
      {
        model: models[number % models.length]!,
        system: isNew
          ? Harbour.system.replace("the night watch", "the front desk").concat("\n- Prices are in euros, with tax.")
          : Harbour.system.replace("the night watch", "the front desk"),
        tools: isNew ? Harbour.toolsOfHarbour : Harbour.toolsOfHarbour.slice(0, 3),
        maxTokens: isNew ? 2048 : 1024
      }
    )
    conversation.call(
      1_900 + (number % 9) * 210,
      [user(question)],
      [text("I look it up."), tool("b1", "list_berths", { from: "today", to: "sunday" })]
    )
    if (number % 13 === 4) conversation.fail(30_000, "overloaded_error", "Overloaded")
    conversation.call(
      2_400 + (number % 7) * 330,
      [results(["b1", '{"berth":2,"free":"12:00","metres":16}\n{"berth":8,"boat":"Knot","until":"sunday"}'])],
      [text(answer)]
    )
    if (number % 3 === 0) {
      conversation
        .wait(60)
        .call(
          1_400 + (number % 5) * 200,
          [user("Thank you. And is there a bus into town?")],
          [text("Every half hour until 22:00, from the gate.")]
        )
    }
  }
}

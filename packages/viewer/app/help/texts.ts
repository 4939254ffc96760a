/** What each page shows and what its figures mean, in a few sentences, by the name of the page as `Page.tsx` has it. */

export interface HelpText {
  readonly sentences: ReadonlyArray<string>
  /** A page of the documentation, and the anchor of a section there. */
  readonly docs: readonly [name: string, anchor?: string]
}

const cost = "Cost is computed by a price list; a + says that some calls have no price, so that the sum is incomplete."

export const texts: Readonly<Record<string, HelpText>> = {
  "agents 0": {
    sentences: [
      "Each program that makes calls is an agent, by the name that it gives itself.",
      "A row adds up all calls of an agent. Open it to see its versions day by day, and what it was told.",
      cost
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "agents 1": {
    sentences: [
      "What the calls of this agent add up to, by version and by day.",
      "Below: with which model, instructions, tools and parameters each version was used, and from when to when.",
      "Compare leads to what a version changed against the one before.",
      cost
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "agents 2": {
    sentences: [
      "Two versions of an agent beside each other: what a session and a call take and cost, and what changed in instructions, tools and parameters.",
      "Figures are of one session or one call, so that versions with different numbers of them compare.",
      "Of what a version ran with, the configuration with most calls among the latest 2,000 is compared; of those with as many, the one that was used last."
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "calls 0": {
    sentences: [
      "The calls of all sessions, the one that was recorded last first. The filters choose among them.",
      "Sort them by how long they took, what they cost or their tokens to see the largest first; calls without that figure are left out.",
      "Times of the filters are those of the calls; the list that is not sorted is in the order of their recording.",
      "A call was tried again if it failed and its session asked the same once more. Sessions are read for it, which takes longer."
    ],
    docs: ["api", "filters-of-events"]
  },
  "diff 1": {
    sentences: [
      "Two sessions, or two calls, beside each other: what they are, what differs in their settings, and message by message.",
      "Messages that say the same are folded. Those of the same role in the same place are compared word by word, and the others are only in A or only in B.",
      "The ids that providers give to tool calls do not count."
    ],
    docs: ["viewer", "two-sessions-or-calls"]
  },
  "docs 0": {
    sentences: [
      "All pages of the documentation of this version. They are part of the server, and need no network.",
      "The search finds sections that have all words."
    ],
    docs: ["viewer", "documentation"]
  },
  "events 1": {
    sentences: [
      "One call of a model: what it was sent and what it answered, byte for byte.",
      "New shows only what this call added to the conversation, and what it left out. Full input shows all that the model was sent.",
      "Tokens are those that the provider reports. Cached ones are cheaper, because the provider had read them before."
    ],
    docs: ["viewer", "a-call"]
  },
  "failures 0": {
    sentences: [
      "Calls that failed with the same status, type and code are one failure, with what the provider said at the latest of them.",
      "The name of a failure leads to that call, and the number of calls to all of them.",
      "Of more than 10,000 failed calls, the figures are of those that were recorded last; a link leads to those before."
    ],
    docs: ["api", "failures"]
  },
  "fingerprints 0": {
    sentences: [
      "A runtime is what a program registered of itself: language, system, packages, repository and commit.",
      "The same program on the same system is the same runtime each time it starts. The interface calls it a fingerprint."
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "fingerprints 1": {
    sentences: [
      "What a program registered of itself, and which agents used it.",
      "Compare its packages with those of another runtime to see what an update changed."
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "live 0": {
    sentences: [
      "Calls as they are recorded, the latest on top.",
      "Further down, the list stands still and says how many are new."
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "overview 0": {
    sentences: [
      "What all calls of a time add up to: by hour or day, by agent and by model.",
      "Point at a chart to read it. A click on a day of it shows its hours; one on an hour, the sessions whose last call was then.",
      "A call failed where the provider answered with an error, or not at all.",
      cost
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "people 0": {
    sentences: [
      "The people on whose behalf agents made calls, by the ids that programs give them.",
      "Open one to see what their calls add up to, and their sessions."
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "people 1": {
    sentences: [
      "What the calls for this person add up to, and their latest sessions.",
      "Below: erasing the person for good, with a key of the scope admin.",
      cost
    ],
    docs: ["viewer", "the-other-pages"]
  },
  "record 0": {
    sentences: [
      "The ways to record a program with this server. Each has a text to copy, with the address of the server and the key of this page.",
      "Use one way for each program: a call that comes in two ways is recorded twice."
    ],
    docs: ["opentelemetry", "which-way-to-use"]
  },
  "search 0": {
    sentences: [
      "Finds where something was said first: in the messages of people, models and tools.",
      "A text that was sent again with later calls is found once. A hit opens the call in its session."
    ],
    docs: ["search"]
  },
  "sessions 0": {
    sentences: [
      "A session is one conversation or run of an agent: all calls that belong together. The latest is on top.",
      "Tokens are what its calls sent and were answered, and how much of it came from the provider's cache.",
      "Repeated is the part of all recorded bytes that had been recorded before: an agent sends its history again with each call.",
      "Select sessions to compare two of them, to export them, or to erase them.",
      cost
    ],
    docs: ["viewer", "sessions"]
  },
  "sessions 1": {
    sentences: [
      "One session as a conversation: each message once, where it was said first, after the mark of the call that sent or answered it.",
      "The strip shows every call: what it sent again, what it sent anew, rewritten histories and errors. A click goes to the call.",
      "Beside it: why the provider's cache missed, what that cost, and which messages cost most.",
      cost
    ],
    docs: ["viewer", "a-session"]
  },
  "shared 1": {
    sentences: [
      "A long text that several calls have in common, such as a system prompt. It is stored once, by its SHA-256.",
      "It is shown byte for byte."
    ],
    docs: ["api", "shared-texts"]
  }
}

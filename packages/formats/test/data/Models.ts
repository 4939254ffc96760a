/** A call of `generateContent` made by hand, with every kind of part, streamed and not. */
import type { JsonObject } from "@tachograph/formats"

const chunk = (parts: ReadonlyArray<JsonObject>, candidate: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { parts, role: "model" }, ...candidate, index: 0 }],
  usageMetadata: { promptTokenCount: 30, totalTokenCount: 30, trafficType: "ON_DEMAND" },
  modelVersion: "gemini-3-pro-preview",
  responseId: "response-1",
  ...more
})

const call = (piece: JsonObject): JsonObject => ({ functionCall: piece })

const usageMetadata = {
  promptTokenCount: 20,
  candidatesTokenCount: 40,
  totalTokenCount: 170,
  cachedContentTokenCount: 8,
  promptTokensDetails: [
    { modality: "TEXT", tokenCount: 13 },
    { modality: "AUDIO", tokenCount: 7 }
  ],
  cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 3 }],
  candidatesTokensDetails: [
    { modality: "TEXT", tokenCount: 10 },
    { modality: "IMAGE", tokenCount: 25 },
    { modality: "AUDIO", tokenCount: 5 }
  ],
  toolUsePromptTokenCount: 50,
  toolUsePromptTokensDetails: [{ modality: "AUDIO", tokenCount: 2 }],
  thoughtsTokenCount: 60,
  trafficType: "ON_DEMAND"
}

const citation = (startIndex: number) => ({ startIndex, endIndex: startIndex + 5, uri: "https://example.com" })

const token = (text: string) => ({ token: text, logProbability: -0.5 })

/** As Vertex streams it, function arguments in pieces. */
const chunks: ReadonlyArray<JsonObject> = [
  chunk([{ text: "The user asks ", thought: true }]),
  chunk([{ text: "about Zürich.", thought: true }]),
  chunk([
    { text: "" },
    {
      thoughtSignature: "AAAA",
      toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["Zürich"] }, id: "abcd1234" }
    }
  ]),
  chunk([
    {
      thoughtSignature: "BBBB",
      toolResponse: { toolType: "GOOGLE_SEARCH_WEB", response: { found: "much" }, id: "abcd1234" }
    }
  ]),
  chunk([{ text: "It is warm\u2028" }], {
    citationMetadata: { citations: [citation(0)] },
    logprobsResult: { chosenCandidates: [token("It")] }
  }),
  chunk([{ text: "— 晴れ 🏔️." }], {
    citationMetadata: { citations: [citation(6)] },
    logprobsResult: { chosenCandidates: [token("is")] }
  }),
  chunk([{ text: "", thoughtSignature: "CCCC" }], { groundingMetadata: { webSearchQueries: ["", "Zürich"] } }),
  chunk([{ executableCode: { language: "PYTHON", code: "print(1)" } }]),
  chunk([{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } }]),
  chunk([{ inlineData: { mimeType: "image/png", data: "iVBORw==" } }]),
  chunk([{ inlineData: { mimeType: "audio/L16;codec=pcm;rate=24000", data: "AQ==" } }]),
  chunk([{ inlineData: { mimeType: "audio/L16;codec=pcm;rate=24000", data: "AgMEBQ==" } }]),
  chunk([call({ name: "now", args: {} })]),
  chunk([call({ name: "note", id: "efgh5678", willContinue: true })]),
  chunk([call({ partialArgs: [{ jsonPath: "$.text", stringValue: "Sun", willContinue: true }], willContinue: true })]),
  chunk([call({ partialArgs: [{ jsonPath: "$.text", stringValue: "ny" }], willContinue: true })]),
  chunk([
    call({
      partialArgs: [
        { jsonPath: "$.places[0]['full name']", stringValue: "Zürich" },
        { jsonPath: "$.places[0].height", numberValue: 408.5 },
        { jsonPath: "$.places[1]", nullValue: "NULL_VALUE" },
        { jsonPath: "$.sure", boolValue: true }
      ],
      willContinue: true
    })
  ]),
  chunk([call({})]),
  {
    candidates: [
      {
        content: { role: "model" },
        finishReason: "STOP",
        index: 0,
        groundingMetadata: { groundingChunks: [{ web: { uri: "https://example.com" } }] }
      }
    ],
    usageMetadata,
    modelVersion: "gemini-3-pro-preview",
    responseId: "response-1"
  }
]

export const everyPart = {
  inputs: {
    model: "models/gemini-3-pro-preview",
    contents: [
      {
        role: "user",
        parts: [{ text: "How is Zürich?" }, { inline_data: { mime_type: "audio/wav", data: "UklGRg==" } }]
      },
      {
        role: "user",
        parts: [{ fileData: { fileUri: "gs://bucket/a.pdf", mimeType: "application/pdf" }, videoMetadata: { fps: 1 } }]
      },
      {
        role: "model",
        parts: [
          { text: "Hm.", thought: true },
          { functionCall: { name: "look", args: { at: "Zürich" } }, thought_signature: "DD_-" }
        ]
      },
      {
        role: "function",
        parts: [
          {
            functionResponse: {
              name: "look",
              response: { result: "sun" },
              parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw==" } }]
            }
          }
        ]
      }
    ],
    systemInstruction: { role: "user", parts: [{ text: "Be brief." }] },
    tools: [
      {
        functionDeclarations: [
          { name: "look", description: "Looks", parameters: { type: "OBJECT" } },
          { name: "now", parametersJsonSchema: { type: "object" } }
        ],
        googleSearch: {}
      },
      { codeExecution: {} }
    ],
    generationConfig: { temperature: 0, stopSequences: [] }
  },
  chunks,
  output: {
    candidates: [
      {
        content: {
          parts: [
            { text: "The user asks about Zürich.", thought: true },
            {
              thoughtSignature: "AAAA",
              toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["Zürich"] }, id: "abcd1234" }
            },
            {
              thoughtSignature: "BBBB",
              toolResponse: { toolType: "GOOGLE_SEARCH_WEB", response: { found: "much" }, id: "abcd1234" }
            },
            { text: "It is warm\u2028— 晴れ 🏔️.", thoughtSignature: "CCCC" },
            { executableCode: { language: "PYTHON", code: "print(1)" } },
            { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
            { inlineData: { mimeType: "image/png", data: "iVBORw==" } },
            { inlineData: { mimeType: "audio/L16;codec=pcm;rate=24000", data: "AQIDBAU=" } },
            { functionCall: { name: "now", args: {} } },
            {
              functionCall: {
                name: "note",
                id: "efgh5678",
                args: { text: "Sunny", places: [{ "full name": "Zürich", height: 408.5 }, null], sure: true }
              }
            }
          ],
          role: "model"
        },
        finishReason: "STOP",
        index: 0,
        citationMetadata: { citations: [citation(0), citation(6)] },
        logprobsResult: { chosenCandidates: [token("It"), token("is")] },
        groundingMetadata: {
          webSearchQueries: ["", "Zürich"],
          groundingChunks: [{ web: { uri: "https://example.com" } }]
        }
      }
    ],
    usageMetadata,
    modelVersion: "gemini-3-pro-preview",
    responseId: "response-1"
  } satisfies JsonObject
}

/** Server-sent events, as with `alt=sse`. */
export const toEvents = (payloads: ReadonlyArray<JsonObject>, end = "\r\n"): string =>
  payloads.map((payload) => `data: ${JSON.stringify(payload)}${end}${end}`).join("")

/** One array, as without. */
export const toArray = (payloads: ReadonlyArray<JsonObject>): string =>
  `[${payloads.map((payload) => JSON.stringify(payload, null, 2)).join("\n,\r\n")}\n]\n`

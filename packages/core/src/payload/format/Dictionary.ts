/**
 * The preset dictionary of deflate: text that is frequent in payloads of the known providers, so that also the first call
 * of a session compresses well. It is part of pack format 1. Changing a byte of it would make existing packs unreadable, so
 * a change needs a new format.
 */
export const dictionary: Buffer = Buffer.from(
  [
    `{"contents":[{"parts":[{"text":"`,
    `"}],"role":"model"}],"generationConfig":{"temperature":0,"maxOutputTokens":`,
    `},"candidates":[{"finishReason":"STOP","index":0,"usageMetadata":{"promptTokenCount":`,
    `,"candidatesTokenCount":,"totalTokenCount":,"modelVersion":"gemini-2.5-flash","functionCall":{"name":"`,
    `","args":{}},"functionResponse":{"name":"","response":{"result":"`,
    `{"status":"completed","incomplete_details":null,"instructions":null,"max_output_tokens":null,"parallel_tool_calls":true,`,
    `"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":true,"text":{"format":{"type":"text"}},`,
    `"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","usage":{"input_tokens":,"input_tokens_details":`,
    `{"cached_tokens":0},"output_tokens":,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":},"user":null,`,
    `"metadata":{}},"output":[{"id":"msg_","type":"message","status":"completed","role":"assistant","content":[{"type":`,
    `"output_text","annotations":[],"logprobs":[],"text":"`,
    `{"type":"function_call","arguments":"{\\"`,
    `\\"}","call_id":"call_","name":"","type":"function_call_output","output":"`,
    `{"type":"function","function":{"name":"","description":"","parameters":{"type":"object","properties":{"`,
    `":{"type":"string","description":"`,
    `"},"required":["`,
    `"],"additionalProperties":false,"strict":true}}}],"input_schema":{"type":"object","properties":{`,
    `{"model":"gpt-4o-mini","temperature":0,"max_tokens":4096,"stream":false,"messages":[{"role":"system","content":"You are a `,
    `helpful assistant."},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`,
    `"}},{"role":"tool","tool_call_id":"call_","name":"","content":"{\\"`,
    `\\": \\"`,
    `\\", \\"`,
    `\\"}"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_","type":"function","function":{"name":"`,
    `","arguments":"{\\"`,
    `\\":\\"`,
    `\\"}"}}]},{"id":"chatcmpl-","object":"chat.completion","created":17,"model":"gpt-4o-2024-08-06","choices":[{"index":0,`,
    `"message":{"role":"assistant","content":"`,
    `","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":`,
    `,"completion_tokens":,"total_tokens":,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},`,
    `"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,`,
    `"rejected_prediction_tokens":0}},"service_tier":"default","system_fingerprint":"fp_"}`,
    `{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5","max_tokens":8192,"system":[{"type":"text",`,
    `"text":"","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"tool_result",`,
    `"tool_use_id":"toolu_01","content":[{"type":"text","text":"`,
    `"}],"is_error":false}]},{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"`,
    `"},{"type":"text","text":"`,
    `"},{"type":"tool_use","id":"toolu_01","name":"","input":{"command":"","path":"`,
    `"}}],"stop_reason":"end_turn","stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":,`,
    `"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":}}`
  ].join("")
)

/** The ids of one small story that all examples tell: a run that writes a program, and what is around it. */
export const exampleIds = {
  account: 'acc_01KB3M8V1R7D3F5G9H2J4K6M8N',
  key: 'key_01KB3M8V5T2W4X6Y8Z0A1B3C5D',
  session: 'ses_01KB3M8V9B1D3F5G7H9J1K3M5N',
  project: 'prj_01KB3M8VZK4M6N8P0Q2R4S6T8V',
  thread: 'thr_01KB3M8W2C9E5QH7ZJ4T6N8P0A',
  run: 'run_01KB3M8W7N3P5Q7R9S1T3V5W7X',
  fork: 'run_01KB3MB4C6D8E0F2G4H6J8K0M2',
  message: 'msg_01KB3M8W8A2B4C6D8E0F2G4H6J',
  reply: 'msg_01KB3M8X1K3M5N7P9Q1R3S5T7V',
  answer: 'msg_01KB3M8Y4W6X8Y0Z2A4B6C8D0E',
  call: 'call_01KB3M8X9F1G3H5J7K9M1N3P5Q',
  approval: 'apr_01KB3M8XAR2S4T6V8W0X2Y4Z6A',
  file: 'file_01KB3M8YQ8M4Z1T7N0V6R2C5XD',
  sandbox: 'sbx_01KB3M8YQ8M4Z1T7N0V6R2C5XD',
  agent: 'agt_01KB3M8TB8C0D2E4F6G8H0J2K4',
  mcpTool: 'mct_01KB3M8TM6N8P0Q2R4S6T8V0W2',
  schedule: 'sch_01KB3M8SX4Y6Z8A0B2C4D6E8F0',
  trigger: 'whk_01KB3M8SG2H4J6K8M0N2P4Q6R8',
  execution: 'exc_01KB3M8SS0T2V4W6X8Y0Z2A4B6',
  endpoint: 'whe_01KB3M8RC8D0E2F4G6H8J0K2M4',
  delivery: 'whd_01KB3M8RN6P8Q0R2S4T6V8W0X2',
  event: 'evt_01KB3M8YY4Z6A8B0C2D4E6F8G0',
  modelCall: 'mdl_01KB3M8YH2J4K6M8N0P2Q4R6S8',
} as const;

/** The SHA-256 of an image. */
export const exampleHash = '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03';

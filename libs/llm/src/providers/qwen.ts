import type { ProviderProfile } from './provider-profile';

export const qwen: ProviderProfile = {
  family: 'qwen',
  names: /dashscope|qwen|alibaba/,
  hosts: /(?:^|\.)aliyuncs\.com$/,
  whyNoDocuments: 'its files are uploaded by another API',
};

{{- define "evenflow.labels" -}}
app.kubernetes.io/name: evenflow
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "evenflow.name" -}}
{{ printf "%s-evenflow" .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "evenflow.selector" -}}
app.kubernetes.io/name: evenflow
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "evenflow.podLabels" -}}
{{ include "evenflow.labels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "evenflow.configAnnotation" -}}
checksum/config: {{ toYaml .Values.config | sha256sum }}
{{- end }}

{{- define "evenflow.pod" -}}
serviceAccountName: {{ include "evenflow.name" . }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: config
    configMap: { name: {{ include "evenflow.name" . }} }
  - name: scratch
    emptyDir: {}
  {{- if .Values.volume.claim }}
  - name: data
    persistentVolumeClaim: { claimName: {{ .Values.volume.claim | quote }} }
  {{- end }}
  {{- range .Values.secrets.files }}
  - name: {{ printf "secret-%s" . }}
    secret: { secretName: {{ . | quote }} }
  {{- end }}
{{- end }}

{{- define "evenflow.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  - { name: HOME, value: /tmp }
{{- with .Values.secrets.env }}
envFrom:
  {{- range . }}
  - secretRef: { name: {{ . | quote }} }
  {{- end }}
{{- end }}
volumeMounts:
  - { name: config, mountPath: /etc/evenflow, readOnly: true }
  - { name: scratch, mountPath: /tmp }
  {{- if .Values.volume.claim }}
  - { name: data, mountPath: {{ .Values.volume.mountPath | quote }} }
  {{- end }}
  {{- range .Values.secrets.files }}
  - { name: {{ printf "secret-%s" . }}, mountPath: {{ printf "/run/secrets/evenflow/%s" . | quote }}, readOnly: true }
  {{- end }}
{{- end }}
